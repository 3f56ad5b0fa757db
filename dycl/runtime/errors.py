"""The errors a user of a compiled program can meet, each with an identifier, a help line and a page."""

from typing import ClassVar


class DyclError(Exception):
    """An error with an identifier; `str()` is the whole message, `reason` its first sentence."""

    default_identifier: ClassVar[str]
    default_help: ClassVar[str]

    def __init__(self, reason: str, *, help: str | None = None, identifier: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.help = help if help is not None else self.default_help
        self.identifier = identifier if identifier is not None else self.default_identifier

    def __str__(self) -> str:
        return (
            f"error[{self.identifier}]: {self.reason}\n"
            f"  = help: {self.help}\n"
            f"  = page: docs/errors/{self.identifier}.md"
        )


class ArtefactError(DyclError):
    """An artefact cannot be used: damaged or hostile (DY101), or made for something this install lacks (DY102)."""

    default_identifier = "DY101"
    default_help = "get the file again from where it was compiled, or compile the model again"


def missing_backend(name: str, package: str | None = None) -> ArtefactError:
    """The error of an artefact that needs a backend which is not here; the package that brings it, where known."""
    how = "install the package that provides this backend" if package is None else f"`pip install '{package}'`"
    return ArtefactError(
        f"the artefact was compiled for the backend {name!r:.80}, which is not installed",
        help=f"{how}, or compile the model for another one",
        identifier="DY102",
    )


class ChoiceWarning(UserWarning):
    """The fastest backends of a program were chosen on another processor than it runs on."""


class InputError(DyclError):
    """The arguments of a call do not fit the signature that was compiled."""

    default_identifier = "DY103"
    default_help = "pass arguments of the compiled kinds and shapes, or compile the model for these as well"


class ModelError(DyclError):
    """The model stopped with an error of its own."""

    default_identifier = "DY104"
    default_help = "the model's own code stops here for this input; see the place named above"
