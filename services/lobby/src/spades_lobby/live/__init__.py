"""What happens at tables, as it happens: commands out, records in, each viewer's frames without a gap."""
