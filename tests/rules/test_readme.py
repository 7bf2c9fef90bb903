"""The README's ten lines run as they stand."""

import re
from pathlib import Path

import spades_rules
from spades_rules import PRESETS

README = Path(spades_rules.__file__).parents[2] / "README.md"


def test_the_readme_s_game_is_played_to_its_end(capsys):
    code = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    exec(code.group(1), {})
    out = capsys.readouterr().out
    assert out.strip().endswith(("target", "floor", "hand_limit"))


def test_the_readme_lists_every_file_and_every_preset():
    text = README.read_text(encoding="utf-8")
    for path in Path(spades_rules.__file__).parent.glob("*.py"):
        if path.stem != "__init__":
            assert f"`{path.stem}`" in text
    for name in PRESETS:
        assert f"`{name}`" in text
