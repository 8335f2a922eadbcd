"""Small files in the formats in which image sets are published."""

import gzip
import struct


def write_mnist(root, x, y):
    """idx files as the set is published, unpacked where torchvision looks for them."""
    raw = root / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for name in ("train", "t10k"):
        images = struct.pack(">IIII", 2051, *x.shape) + x.tobytes()
        labels = struct.pack(">II", 2049, len(y)) + y.tobytes()
        for kind, body in (("images-idx3-ubyte", images), ("labels-idx1-ubyte", labels)):
            (raw / f"{name}-{kind}").write_bytes(body)
            (raw / f"{name}-{kind}.gz").write_bytes(gzip.compress(body))
