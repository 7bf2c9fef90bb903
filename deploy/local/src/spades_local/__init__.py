"""The whole system on one machine: PostgreSQL, Kafka and the five services, supervised."""
