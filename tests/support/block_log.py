"""Lines of a distributed file system, by block: most are written three times, a few fail in one way or another."""

import numpy as np


def block_log(n_blocks, n_failed, seed=0):
    """The lines, in the order of their times, and the names of the failed blocks."""
    rng = np.random.default_rng(seed)
    failed = set(rng.choice(n_blocks, n_failed, replace=False).tolist())
    names = [f"blk_{'-' * int(rng.integers(2))}{int(rng.integers(10**17, 10**18))}" for _ in range(n_blocks)]
    events = []
    for number, name in enumerate(names):
        at = float(rng.uniform(0, 36_000))
        told = _failed(rng, name, number) if number in failed else _written(rng, name)
        for level, who, text in told:
            at += float(rng.exponential(0.5))
            events.append((at, level, who, text))
    lines = []
    for at, level, who, text in sorted(events):
        clock = f"{20 + int(at) // 3600 % 4:02d}{int(at) // 60 % 60:02d}{int(at) % 60:02d}"
        lines.append(f"081109 {clock} {int(rng.integers(10, 3000))} {level} dfs.{who}: {text}")
    return lines, {names[number] for number in failed}


def _address(rng):
    return f"10.250.{rng.integers(20)}.{rng.integers(250)}:50010"


def _opened(rng, name):
    path = f"/user/root/rand{rng.integers(9)}/_temporary/_task_2008_m_{rng.integers(1000)}/part-{rng.integers(1000)}"
    if rng.random() < 0.02:
        path = f"/mnt/hadoop/mapred/system/job_2008_{rng.integers(100)}/job.jar"
    return [
        ("INFO", "FSNamesystem", f"BLOCK* NameSystem.allocateBlock: {path}. {name}"),
        *[("INFO", "DataNode$DataXceiver", f"Receiving block {name} src: /{_address(rng)} dest: /{_address(rng)}")] * 3,
    ]


def _stored(rng, name):
    found = []
    for place in range(3):
        said = f"BLOCK* NameSystem.addStoredBlock: blockMap updated: {_address(rng)} is added to {name} size 67108864"
        found += [
            ("INFO", "FSNamesystem", said),
            ("INFO", "DataNode$PacketResponder", f"PacketResponder {place} for block {name} terminating"),
            ("INFO", "DataNode$PacketResponder", f"Received block {name} of size 67108864 from /10.250.1.{place}"),
        ]
    return [found[place] for place in rng.permutation(len(found))]


def _written(rng, name):
    found = _opened(rng, name) + _stored(rng, name)
    if rng.random() < 0.3:
        times = int(rng.integers(1, 9))
        found += [("INFO", "DataNode$DataXceiver", f"{_address(rng)} Served block {name} to /10.251.1.2")] * times
    if rng.random() < 0.15:
        found += [("INFO", "DataBlockScanner", f"Verification succeeded for {name}")]
    if rng.random() < 0.8:
        place = f"/mnt/hadoop/dfs/data/current/subdir{rng.integers(60)}/{name}"
        found += [("INFO", "FSDataset", f"Deleting block {name} file {place}")] * 3
    return found


def _failed(rng, name, number):
    how = number % 4
    opened, written = _opened(rng, name), _written(rng, name)
    refused = ("WARN", "DataNode$DataXceiver", f"writeBlock {name} received exception java.io.IOException: Broken pipe")
    lost = ("WARN", "FSDataset", f"Unexpected error trying to delete block {name}. BlockInfo not found in volumeMap.")
    again = f"BLOCK* ask {_address(rng)} to replicate {name} to datanode(s) {_address(rng)} {_address(rng)}"
    if how == 0:
        return opened[: int(rng.integers(2, 5))]
    if how == 1:
        return [*opened, refused]
    if how == 2:
        return [*written, lost]
    return [*written, ("INFO", "FSNamesystem", again)]
