"""What operators may do, each act an event first."""
