"""Finding scripts on disk: kind folders, ResourceInterpreterCustomization files, the bundled ones and the default.

What is found here is only text; which operations a script really offers is known after the sandbox has loaded it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, structs

from interpreters.core.documents import Document, load_documents
from interpreters.core.engine import BUNDLED, Script
from interpreters.core.errors import DocumentError, InterpError, ScriptError
from interpreters.core.karmada.api import CUSTOMIZATION
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.languages import LANGUAGES, LUA, language_of_suffix
from interpreters.core.operations import BY_FUNCTION, BY_RULE, Operation
from interpreters.core.texts import one_line
from interpreters.files import read_bytes, read_found
from interpreters.folders import files_below
from interpreters.headers import ALSO_SERVES, Header, customization_header, script_header

CUSTOMIZATIONS_FILE: Final = "customizations.yaml"
LARGEST_SCRIPT: Final = 1 << 20
LARGEST_CUSTOMIZATIONS: Final = 8 << 20
MOST_VALUES: Final = 200_000
"""In a file of customizations; each has some thirty, whatever its scripts' length."""

_PACKAGE: Final = Path(__file__).parent


class Origin(IntEnum):
    """Where a script comes from; lower answers first."""

    SCRIPT = 0  # named on the command line for this one object
    FOLDER = 1
    CUSTOMIZATION = 2
    BUNDLED = 3
    DEFAULT = 4

    def __str__(self) -> str:
        return self.name.lower()


class Source(Struct, frozen=True):
    """One place that scripts come from. `order` ranks places of the same origin."""

    origin: Origin
    order: int
    place: str

    @property
    def author(self) -> str:
        """Whose scripts these are: one place is one author's, whatever it holds."""
        return BUNDLED if self.origin >= Origin.BUNDLED else f"{self.origin} {self.order}"


def authors(places: int, *, bundled: bool) -> tuple[str, ...]:
    """Whose scripts `scan` finds in so many folders."""
    own = [Source(Origin.FOLDER, order, "").author for order in range(places)]
    return (*own, *([BUNDLED] if bundled or not own else []))


class Candidate(Struct, frozen=True):
    """A script that may answer for a kind: for every kind if `kind` is None.

    `kind` is where it lives; the versions that it also serves are declared in its header.
    """

    kind: GroupVersionKind | None
    script: Script
    source: Source
    operations: tuple[Operation, ...] | None = None  # None: whatever it defines
    folder: Path | None = None  # where its cases are
    header: Header = Header()

    @property
    def kinds(self) -> tuple[GroupVersionKind | None, ...]:
        """Every kind that it answers for: its own, then the further versions of it."""
        if self.kind is None:
            return (None,)
        more = (GroupVersionKind.parse(version, self.kind.kind) for version in self.header.listed(ALSO_SERVES))
        return tuple(dict.fromkeys((self.kind, *more)))


class Broken(Struct, frozen=True):
    """A script or file that cannot be used, and why. It never takes the others down."""

    name: str
    error: InterpError
    source: Source
    kind: GroupVersionKind | None = None  # None: not known
    operation: Operation | None = None  # None: it could have answered any
    script: Script | None = None  # None: it could not even be read

    @property
    def kinds(self) -> tuple[GroupVersionKind | None, ...]:
        return (self.kind,)

    @property
    def rank(self) -> tuple[int, int]:
        return (self.source.origin, self.source.order)

    @property
    def as_script_error(self) -> ScriptError:
        """The error as whoever asks this script gets it: its author must act, not the caller."""
        return self.error if isinstance(self.error, ScriptError) else ScriptError(str(self.error))


Found = Candidate | Broken


def scan(
    folders: Sequence[Path] = (),
    customizations: Sequence[Path] = (),
    *,
    bundled: str | None = LUA,
    default: bool = False,
    kinds: Collection[GroupVersionKind] | None = None,
) -> list[Found]:
    """All candidates in order of precedence. `bundled` is the language to prefer, or None for no bundled scripts.

    A bundled script in the other language answers only where there is none in the preferred one. `kinds` spares reading
    bundled scripts that nobody will ask.
    """
    found: list[Found] = []
    for order, folder in enumerate(folders):
        found += scan_place(folder, Origin.FOLDER, order)
    found += _customizations(customizations)
    if bundled is not None:
        preferred = scan_bundled(bundled, kinds)
        known = {kind for entry in preferred for kind in entry.kinds}
        others = (entry for language in LANGUAGES if language != bundled for entry in scan_bundled(language, kinds))
        found += [*preferred, *(entry for entry in others if not known.intersection(entry.kinds))]
    if default:
        script = Script("default", LUA, (_PACKAGE / "lua" / "default.lua").read_text(), BUNDLED)
        found.append(Candidate(None, script, Source(Origin.DEFAULT, 0, "default")))
    return found


def empty_folders(folders: Sequence[Path], found: Collection[Found]) -> list[str]:
    """A sentence about each folder in which nothing was found: whoever named it thinks that something is there."""
    filled = {entry.source.order for entry in found if entry.source.origin is Origin.FOLDER}
    wanted = f"<group>/<version>/<Kind>/interpreter.lua or .star, or {CUSTOMIZATIONS_FILE}"
    return [
        f"{folder}: no script in it; expected {wanted}"
        for order, folder in enumerate(folders)
        if order not in filled and folder.is_dir()
    ]


def scan_place(place: Path, origin: Origin, order: int = 0, *, among_others: bool = False) -> list[Found]:
    """A script file (for any kind), a folder of kinds, one kind's folder, or a customization file.

    `among_others`: the file may hold objects of other kinds too, which are passed over.
    """
    if language_of_suffix(place.suffix):
        return [_own_script(place, place, None, Source(origin, order, str(place)))]
    if place.is_dir():
        return list(_folder(place, origin, order))
    return _customizations([place], origin, order, root=place, among_others=among_others)


def _folder(root: Path, origin: Origin, order: int) -> Iterator[Found]:
    source = Source(origin, order, str(root))
    customizations = []
    try:
        paths = sorted(files_below(root))
    except DocumentError as error:
        yield Broken(str(root), error, source)
        return
    for path in paths:
        if path.stem == "interpreter" and language_of_suffix(path.suffix):
            yield _own_script(path, root, _kind_of_folder(Path(_spelled(root)), Path(_spelled(path.parent))), source)
        elif path.name == CUSTOMIZATIONS_FILE:
            customizations.append(path)
    yield from _customizations(customizations, origin, order, root=root)


def _kind_of_folder(root: Path, folder: Path) -> GroupVersionKind | None:
    """`<group>/<version>/<Kind>` as far as the path shows it; a lone kind folder answers for every kind."""
    parts = folder.absolute().parts[-3:]
    if folder == root and (len(parts) < 3 or not parts[1].startswith("v") or not parts[2][:1].isupper()):
        return None
    return GroupVersionKind.from_folder("/".join(parts))


def _own_script(path: Path, root: Path, kind: GroupVersionKind | None, source: Source) -> Found:
    """A script of the user's. A copy of a bundled one lacks the snippets that it names, and would fail every call."""
    from interpreters.snippets import included

    found = _script(path, root, kind, source)
    named = included(found.script.text) if isinstance(found, Candidate) else []
    if not named or isinstance(found, Broken):
        return found
    language = found.script.language
    if (_PACKAGE / language / "scripts") in path.resolve().parents:  # somebody works on the bundled ones
        text = _assembled(found.script.text, language)
        return structs.replace(found, script=structs.replace(found.script, text=text))
    problem = (
        f"this is a bundled script without {named[0]}, which it includes; `interp new --from {path.parent.name}` "
        f"writes a complete copy, and `interp export` a customization"
    )
    return Broken(found.script.name, DocumentError(found.script.name, problem), source, kind, script=found.script)


def _assembled(text: str, language: str) -> str:
    from interpreters.snippets import assemble

    return assemble(text, lambda name: (_PACKAGE / language / name).read_text())


def _script(path: Path, root: Path, kind: GroupVersionKind | None, source: Source, name: str | None = None) -> Found:
    name = name or _spelled(path)
    try:
        _refuse_name(path)
        raw = read_found(path, root, LARGEST_SCRIPT)
        script = Script(name, _language(path), raw.decode("utf-8-sig"), source.author)
    except UnicodeDecodeError as error:
        return Broken(name, DocumentError(name, f"not UTF-8 at byte {error.start}"), source, kind)
    except InterpError as error:
        return Broken(name, error, source, kind)
    header = script_header(script.text)
    problem = _problem_of(header, kind)
    if problem:
        return Broken(name, DocumentError(name, problem), source, kind, script=script)
    return Candidate(kind, script, source, folder=path.parent, header=header)


def _language(path: Path) -> str:
    language = language_of_suffix(path.suffix)
    if language is None:
        known = ", ".join(language.suffix for language in LANGUAGES.values())
        raise DocumentError(_spelled(path), f"a script in no known language; their files end with {known}")
    return language.name


def _spelled(path: Path) -> str:
    """A path as logs, metrics and terminals can show it: a file's name may be any bytes."""
    return one_line(str(path).encode(errors="backslashreplace").decode())


def _refuse_name(path: Path) -> None:
    if _spelled(path) != str(path):
        raise DocumentError(_spelled(path), "a name that is not UTF-8 or holds control characters; give it another")


def _problem_of(header: Header, kind: GroupVersionKind | None) -> str | None:
    """Why the versions that a header declares cannot be served, if they cannot."""
    for version in header.listed(ALSO_SERVES) if kind else ():
        if kind and GroupVersionKind.parse(version, kind.kind).group != kind.group:
            example = GroupVersionKind(kind.group, "v1beta1", kind.kind).api_version
            return f"{ALSO_SERVES}: expected further versions of the group, such as {example}, got {version!r}"
    return None


def scan_bundled(language: str, kinds: Collection[GroupVersionKind] | None = None) -> list[Found]:
    """The bundled scripts of one language, of all kinds or of these, each with the snippets that it includes."""
    root = _PACKAGE / language / "scripts"
    # A script may serve other versions than the one it lives under.
    folders = {"*/*/*"} if kinds is None else {f"{kind.group or 'core'}/*/{kind.kind}" for kind in kinds}
    paths = sorted(path for folder in folders for path in root.glob(f"{folder}/interpreter.*"))
    found = (_bundled(path, root, language) for path in paths)
    return [entry for entry in found if kinds is None or not set(kinds).isdisjoint(entry.kinds)]


def _bundled(path: Path, root: Path, language: str) -> Found:
    source = Source(Origin.BUNDLED, 0, BUNDLED)
    kind = GroupVersionKind.from_folder(str(path.parent.relative_to(root)))
    found = _script(path, root, kind, source, f"bundled/{path.relative_to(root)}")
    if isinstance(found, Broken):
        return found
    script = Script(found.script.name, language, _assembled(found.script.text, language), source.author)
    original = _PACKAGE / LUA / "scripts" / path.parent.relative_to(root)  # whose table a twin is tested by
    folder = original if original.is_dir() else path.parent
    return Candidate(kind, script, source, folder=folder, header=found.header)


def _customizations(
    paths: Sequence[Path],
    origin: Origin = Origin.CUSTOMIZATION,
    order: int = 0,
    *,
    root: Path | None = None,
    among_others: bool = False,
) -> list[Found]:
    """The rules of ResourceInterpreterCustomizations, in order of the customizations' names, as Karmada merges them.

    `root`: where the files were found; None for files that somebody named one by one.
    """
    source = Source(origin, order, ", ".join(map(str, paths)))
    documents: list[tuple[str, str, Document]] = []
    broken: list[Found] = []
    for path in paths:
        try:
            _refuse_name(path)
            text = read_found(path, root, LARGEST_CUSTOMIZATIONS) if root else read_bytes(path)
            documents += [
                (_name(document), str(path), document)
                for document in load_documents(text, str(path), MOST_VALUES if root else None)
                if not among_others or document.get("kind") == CUSTOMIZATION.kind
            ]
        except InterpError as error:
            broken.append(Broken(_spelled(path), error, source))
    documents.sort(key=lambda entry: entry[:2])
    found: list[Found] = []
    for name, file, document in documents:
        try:
            found += list(_rules(document, name, file, source))  # all of its rules, or none
        except DocumentError as error:
            found.append(Broken(file, error, source, _target_of(document)))
    return found + broken


def _name(document: Document) -> str:
    metadata = document.get("metadata")
    return str(metadata.get("name", "")) if isinstance(metadata, dict) else ""


def _target_of(document: Document) -> GroupVersionKind | None:
    """The kind that a broken customization is for, as far as it says so."""
    spec = document.get("spec")
    target = spec.get("target") if isinstance(spec, dict) else None
    fields = [target.get(field) for field in ("apiVersion", "kind")] if isinstance(target, dict) else [None]
    if document.get("kind") != CUSTOMIZATION.kind or not all(isinstance(field, str) and field for field in fields):
        return None
    return GroupVersionKind.parse(*fields)


def _rules(document: Document, name: str, file: str, source: Source) -> Iterator[Candidate]:
    if document.get("kind") != CUSTOMIZATION.kind:
        raise DocumentError(file, f"expected a {CUSTOMIZATION.kind}, got kind {document.get('kind')!r}")
    spec = _mapping(document.get("spec"), f"{file}: spec")
    target = _mapping(spec.get("target"), f"{file}: spec.target")
    for field in ("apiVersion", "kind"):
        _text(target.get(field), f"{file}: spec.target.{field}")
    kind = GroupVersionKind.parse(target["apiVersion"], target["kind"])
    header = customization_header(document)
    if problem := _problem_of(header, kind):
        raise DocumentError(f"{file}: metadata.annotations", problem)
    for rule, body in _mapping(spec.get("customizations"), f"{file}: spec.customizations").items():
        operation = BY_RULE.get(rule)
        if operation is None:
            raise DocumentError(f"{file}: spec.customizations.{rule}", f"unknown rule; known are {', '.join(BY_RULE)}")
        where = f"{file}: spec.customizations.{rule}"
        text = _text(_mapping(body, where).get("luaScript"), f"{where}.luaScript")
        script = Script(f"{file}#{name}/{rule}" if name else f"{file}#{rule}", LUA, text, source.author)
        yield Candidate(kind, script, source, (operation,), Path(file).parent, header)


def _mapping(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DocumentError(where, f"expected an object, got {_shown(value)}")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise DocumentError(where, f"expected text, got {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    return "nothing" if value in (None, "") else f"{value!r:.40}"


def operations_of(functions: frozenset[str]) -> dict[Operation, str]:
    """The operations that a script with these functions offers, and the function for each."""
    return {BY_FUNCTION[function]: function for function in sorted(functions, reverse=True) if function in BY_FUNCTION}
