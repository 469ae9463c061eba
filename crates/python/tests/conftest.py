"""What the tests share."""

import pathlib

import pytest

import pfaff

ROOT = pathlib.Path(__file__).parents[3]

PENDULUM = """
coordinates  a
parameters   l = 1, g = 9.81
lagrangian   l^2*a'^2/2 + g*l*cos(a)
initial      a = 1
observe      height = -l*cos(a)
event        bottom: a
solve        t = 0..2, tolerance = 1e-10
"""


@pytest.fixture(scope="session")
def sleigh():
    return pfaff.gallery["sleigh"]


@pytest.fixture(scope="session")
def pendulum():
    return pfaff.Model(PENDULUM)
