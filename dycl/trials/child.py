"""A process that tries sub-DNNs: `python -m dycl.trials.child FOLDER BACKEND FIRST THREADS SECONDS`.

It may crash or hang on any of them; who started it reads in the folder how far it came.
"""

import sys
from dataclasses import asdict
from pathlib import Path

from dycl.runtime.backend_registry import find_backend, is_brought
from dycl.trials.folder import Folder
from dycl.trials.trying import tried


def main(arguments: list[str]) -> None:
    """Try the tasks of a folder from one of them on."""
    path, name, first, threads, seconds = arguments
    if is_brought(name):
        # None of these needs it, and there are libraries that load it where it can be had, which takes long.
        sys.modules["torch"] = None  # type: ignore[assignment]
    folder, backend = Folder(Path(path)), find_backend(name)
    for number, task in enumerate(folder.tasks()):
        if number < int(first):
            continue
        folder.note(begun=number)
        found = tried(backend, task, int(threads), float(seconds))
        folder.keep_outputs(number, found)
        folder.note(ended=number, **{key: value for key, value in asdict(found).items() if key != "outputs"})


if __name__ == "__main__":
    main(sys.argv[1:])
