"""JSON Schemas of every message, generated from the types: `python -m spades_events.schemas` writes them.

One file a type and version, `schemas/card_played.v1.json`. A file of an older version stays as it
is when its type has gone from the code: the log still holds such records.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

import msgspec

from spades_events.codec import CE_TYPES

FOLDER: Final = Path(__file__).parent / "schemas"


def schema_name(ce_type: str) -> str:
    """The file name of a type's schema: `card_played.v1.json`."""
    return ce_type.removeprefix("spades.") + ".json"


def schema_of(cls: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a message's body."""
    ce_type = CE_TYPES[cls]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:" + ce_type.replace(".", ":"),
        **msgspec.json.schema(cls),
    }


def schema_text(cls: type[msgspec.Struct]) -> str:
    """The committed form: two blanks of indent, keys as declared, a final line feed."""
    return json.dumps(schema_of(cls), indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    """Write every schema that is missing or not current; say how many."""
    FOLDER.mkdir(exist_ok=True)
    written = 0
    for cls, ce_type in CE_TYPES.items():
        file = FOLDER / schema_name(ce_type)
        text = schema_text(cls)
        if not file.exists() or file.read_text("utf-8") != text:
            file.write_text(text, "utf-8")
            written += 1
    sys.stdout.write(f"{len(CE_TYPES)} schemas, {written} written\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
