"""The public port: REST by noun, its shapes, bounds and problems, and the page."""
