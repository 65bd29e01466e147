"""Reads files with PyTorch, prints what is in them as JSON, and writes them again.

    python3 tests/python/torch_files.py FILE.pt ...

Next to each file it writes FILE.pt.zip and FILE.pt.legacy, the two forms that PyTorch has.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "golden" / "torch"))

import torch
from description import described

for file in sys.argv[1:]:
    value = torch.load(file)
    print(json.dumps(described(value)))
    torch.save(value, f"{file}.zip")
    torch.save(value, f"{file}.legacy", _use_new_zipfile_serialization=False)
