"""The gateway: what clients see of the platform, and the only service that talks to them."""
