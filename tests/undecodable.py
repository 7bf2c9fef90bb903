"""A record that aiokafka cannot decode: the name of one of its headers is no UTF-8. It writes none; others may."""

from aiokafka import AIOKafkaProducer
from aiokafka.record.util import calc_crc32c


async def send_undecodable(bootstrap: str, topic: str, part: int, key: bytes = b"k") -> int:
    """Send one to a topic's full name; its offset."""
    async with AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
        batch = producer.create_batch()
        batch.append(timestamp=None, key=key, value=b"{}", headers=[("ce_bad", b"x")])
        built = batch._build()
        built[:] = built.replace(b"ce_bad", b"ce_\xff\xfe\xfd")
        # Record batches (format 2): the checksum of all from byte 21 on stands before it.
        built[17:21] = calc_crc32c(bytes(built[21:])).to_bytes(4, "big")
        sent = await (await producer.send_batch(batch, topic, partition=part))
        return int(sent.offset)
