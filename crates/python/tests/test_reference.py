"""The reference motions of the Rust tests through Python."""

import json

import numpy as np
import pytest
from conftest import ROOT

import pfaff

CASES = json.loads((ROOT / "crates/engine/tests/reference/trajectories.json").read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_motions_agree_with_the_references(case):
    m = pfaff.Model(case["model"]).run(at=case["times"])
    for group in ("q", "v", "multipliers", "reactions"):
        for name, expected in (case.get(group) or {}).items():
            found, expected = getattr(m, group)[name], np.array(expected, dtype=float)
            # The reference says how exact it is.
            limit = case["tolerance"] * (1 + np.abs(expected))
            assert np.all(np.abs(found - expected) <= limit), (group, name)
    assert m.stop.reason == "end"
