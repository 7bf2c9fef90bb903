"""The page: static files, each with its type, its tag and a strict policy."""

import base64
import hashlib
import mimetypes
import re
from pathlib import Path
from typing import Final

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from spades_lobby.problems import not_found

# What a page is made of; everything else in the folder is its workshop.
_SERVED: Final = frozenset({".html", ".js", ".mjs", ".css", ".svg", ".png", ".ico", ".webmanifest", ".woff2", ".txt"})
_WORKSHOP: Final = frozenset({"node_modules", "tests", "setup.mjs"})
_INLINE_SCRIPT: Final = re.compile(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)

for _suffix, _kind in (
    (".mjs", "text/javascript"),
    (".js", "text/javascript"),
    (".svg", "image/svg+xml"),
    (".webmanifest", "application/manifest+json"),
    (".woff2", "font/woff2"),
):
    # The machine's own table may say otherwise, and browsers refuse a module of another type.
    mimetypes.add_type(_kind, _suffix)


def policy(index: str) -> str:
    """The page's Content-Security-Policy: only our own files, and the inline scripts of `index` as they are."""
    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in _INLINE_SCRIPT.findall(index)
    ]
    return "; ".join(
        (
            "default-src 'none'",
            " ".join(("script-src 'self'", *hashes)),
            "style-src 'self'",
            "img-src 'self' data:",
            "font-src 'self'",
            "connect-src 'self'",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )


class Page(StaticFiles):
    """The folder of the page at `/`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(directory=folder, html=True, check_dir=False)
        index = folder / "index.html"
        self._policy = policy(index.read_text() if index.is_file() else "")

    async def get_response(self, path: str, scope: Scope) -> Response:
        parts = Path(path).parts
        if path != "." and not _is_served(parts):
            raise not_found()
        response = await super().get_response(path, scope)
        response.headers["Content-Security-Policy"] = self._policy
        # Always asked for anew by its tag: modules carry no version in their names.
        response.headers["Cache-Control"] = "no-cache"
        return response


def _is_served(parts: tuple[str, ...]) -> bool:
    if any(part.startswith(".") or part in _WORKSHOP for part in parts):
        return False
    return bool(parts) and ("." not in parts[-1] or Path(parts[-1]).suffix in _SERVED)
