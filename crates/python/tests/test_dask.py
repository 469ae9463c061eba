"""Sweeps on a real cluster of two worker processes."""

import os
import signal
import threading
import time

import pytest

import pfaff

distributed = pytest.importorskip("distributed")

MODEL = """
coordinates  x, y
parameters   k = 1
lagrangian   (x'^2 + y'^2)/2 - k*(x^2 + y^2)^2/4
initial      x = 1, y' = 0.3
solve        t = 0..200, tolerance = 1e-9
"""


@pytest.fixture(scope="module")
def cluster():
    made = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    )
    with made, distributed.Client(made) as client:
        yield client


def values(count):
    return {"k": [0.5 + i / count for i in range(count)]}


def test_the_table_is_that_of_this_machine(cluster):
    model = pfaff.Model(MODEL)
    assert model.sweep(values(30), t=5, client=cluster, chunk=7) == model.sweep(values(30), t=5)


def test_a_killed_worker_loses_and_doubles_nothing(cluster):
    model = pfaff.Model(MODEL)
    expected = model.sweep(values(120))
    pids = list(cluster.run(os.getpid).values())
    killed = threading.Event()

    def kill():
        # On the way: when some of the thirty chunks are done.
        for _ in range(400):
            if cluster.run_on_scheduler(done_tasks) >= 8:
                break
            time.sleep(0.005)
        os.kill(pids[0], signal.SIGKILL)
        killed.set()

    killer = threading.Thread(target=kill)
    killer.start()
    table = model.sweep(values(120), client=cluster, chunk=4)
    killer.join()
    assert killed.is_set()
    assert table == expected and table["case"].tolist() == list(range(1, 121))


def done_tasks(dask_scheduler):
    return sum(task.state == "memory" for task in dask_scheduler.tasks.values())


def test_a_dead_cluster_is_said_and_what_was_done_stays():
    model = pfaff.Model(MODEL)
    made = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
    )
    client = distributed.Client(made)
    client.close()
    made.close()
    with pytest.raises(pfaff.ClusterError) as caught:
        model.sweep(values(4), t=1, client=client)
    partial = caught.value.partial
    assert partial.complete == 0 and "cluster" in str(caught.value)
    # What is complete is gone on with.
    first = model.sweep(values(4), t=1)
    assert model.sweep(values(4), t=1, resume=partial) == first
