"""Problems: what a program needs that DyCL does not support, shown at the user's own line."""

import linecache
import os
import platform
import sysconfig
import traceback
from dataclasses import dataclass, field, replace

import torch

from dycl.hcfg.types import Span
from dycl.rewrite.normalise.source import full_path
from dycl.rewrite.own_code import is_own_file
from dycl.rewrite.signals import OwnMistake, Refused
from dycl.version import __version__

_HELP = {
    "DY001": "compute the value with tensor operations or Python arithmetic, which DyCL follows",
    "DY002": "write this part without the construct; docs/errors/DY002.md shows how",
    "DY003": "keep the source file next to the installed code",
    "DY004": "replace the operation by supported ones",
    "DY005": "pass the random numbers in as an input of the model",
    "DY006": "use the out-of-place form of the operation, or `.clone()` the view before the decision",
    "DY007": "pass the value in as an argument and return the new one",
    "DY008": "make the number known while compiling, for instance a constructor argument",
    "DY009": "build the object after the decision, or keep its contents in a list, dict or dataclass",
    "DY010": "call the model on the example inputs without DyCL; if that works, DyCL does not follow this line yet",
    "DY011": "give the loop or recursion a bound that is known while compiling",
    "DY012": "call `model.eval()` first",
    "DY014": "use the tensor operation of the same name, `torch.argmax` for `np.argmax`",
    "DY015": "let `dynamic_shapes` nest like the arguments of the example call, as in `torch.export`",
    "DY016": "this is a mistake in DyCL, not in your model: please report it, with the smallest model that shows it",
    "DY018": "name another backend, first or behind this one, and report what it got wrong to its makers",
    "DY017": "decide with tensor operations what later decisions do not depend on",
    "DY013": "use tensors, numbers, None, texts, tuples, lists, dicts, named tuples or dataclasses",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason why a program cannot be compiled. `trail` are the calls from the model down to the place."""

    identifier: str
    reason: str
    help: str
    span: Span
    trail: tuple[Span, ...] = ()
    cause: BaseException | None = field(default=None, compare=False, repr=False)
    """The error that DyCL failed with, if it did."""

    @property
    def file(self) -> str:
        """The file that the problem stands in."""
        return self.span.file

    @property
    def line(self) -> int:
        """The line that the problem stands in."""
        return self.span.line

    def __str__(self) -> str:
        source = source_line(self.span)
        gutter = " " * len(str(self.span.line))
        lines = [f"error[{self.identifier}]: {self.reason}", f"{gutter}--> {self.span}"]
        if source is not None:
            end = self.span.end_column if self.span.end_line == self.span.line else len(source) + 1
            carets = "^" * max(1, end - self.span.column)
            lines += [
                f"{gutter} |",
                f"{self.span.line} | {source}",
                f"{gutter} | {' ' * (self.span.column - 1)}{carets}",
            ]
        lines += [f"{gutter} = note: reached through {place} in `{place.function}`" for place in self.trail]
        lines += [f"{gutter} = help: {self.help}", f"{gutter} = page: docs/errors/{self.identifier}.md"]
        return "\n".join(lines)


def source_line(span: Span) -> str | None:
    """The text of a span's first line, if it can be read."""
    line = linecache.getline(full_path(span.file), span.line).rstrip("\n")
    return line or None


def source_text(span: Span) -> str:
    """The text that a span covers, on one line."""
    lines = [linecache.getline(full_path(span.file), number) for number in range(span.line, span.end_line + 1)]
    if not lines or not lines[0]:
        return "?"
    lines[-1] = lines[-1].encode()[: span.end_column - 1].decode(errors="replace")
    lines[0] = lines[0].encode()[span.column - 1 :].decode(errors="replace")
    return " ".join("".join(lines).split())


def own_mistake(error: BaseException, places: tuple[Span, ...]) -> Problem:
    """A problem that is DyCL's own fault, at the place in the program where it came up."""
    cause = error.__cause__ if isinstance(error, OwnMistake) and error.__cause__ is not None else error
    where = traceback.extract_tb(cause.__traceback__)[-1] if cause.__traceback__ is not None else None
    at = "" if where is None else f" ({os.path.basename(where.filename)}:{where.lineno} in `{where.name}`)"
    said = (str(cause).splitlines() or [""])[0]
    versions = f"DyCL {__version__}, PyTorch {torch.__version__}, Python {platform.python_version()}"
    reason = f"DyCL itself fails here with {type(cause).__name__}: {said}{at}; {versions}"
    return replace(problem_at(Refused("DY016", reason), places), cause=cause)


def problem_at(refused: Refused, places: tuple[Span, ...]) -> Problem:
    """A problem at the innermost place that is the user's own code."""
    own = [number for number, place in enumerate(places) if not _is_library(place)]
    innermost = own[-1] if own else len(places) - 1
    help = refused.help or _HELP[refused.identifier]
    shown = [place for place in (*reversed(places[:innermost]), *places[innermost + 1 :]) if not _is_own(place)]
    trail = tuple(dict.fromkeys(shown))
    return Problem(refused.identifier, refused.reason, help, places[innermost], trail)


def _is_library(place: Span) -> bool:
    filename = os.path.abspath(full_path(place.file))
    paths = sysconfig.get_paths()
    in_stdlib = filename.startswith(paths["stdlib"]) and not filename.startswith((paths["purelib"], paths["platlib"]))
    return in_stdlib or filename.startswith(_TORCH) or _is_own(place)


def _is_own(place: Span) -> bool:
    return is_own_file(full_path(place.file))


_TORCH = os.path.dirname(torch.__file__)
