"""Where the tests of a file belong, by the conventions of its language."""

from __future__ import annotations

_SCRIPTS = ("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts")


def tests_of(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The places for the tests of a file, the usual one first; none where no convention is known.

    Places are names below the folder of the workspace. A file that holds tests itself has none.
    """
    *above, name = names
    stem, _, kind = name.rpartition(".")
    folders = tuple(above)
    if not stem or stem.startswith("test_") or stem.endswith(("_test", "_spec", ".test", ".spec", "Test")):
        return []
    match kind:
        case "py":
            test = f"test_{stem}.py"
            return list(dict.fromkeys([("tests", test), (*folders, "tests", test), (*folders, test)]))
        case "go":
            return [(*folders, f"{stem}_test.go")]
        case "rb":
            return [("spec", f"{stem}_spec.rb"), ("test", f"{stem}_test.rb")]
        case "java" | "kt" if folders[:2] == ("src", "main"):
            return [("src", "test", *folders[2:], f"{stem}Test.{kind}")]
        case "php":
            return [("tests", f"{stem}Test.php")]
        case "dart":
            return [("test", f"{stem}_test.dart")]
        case "ex":
            return [("test", f"{stem}_test.exs")]
        case _ if kind in _SCRIPTS:
            return [(*folders, f"{stem}.test.{kind}")]
        case _:
            return []
