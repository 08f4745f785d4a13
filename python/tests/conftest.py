# SPDX-License-Identifier: Apache-2.0
import os
import pathlib

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "models" / "digits_cnn"


@pytest.fixture(scope="session")
def digits():
    return DIGITS / "float.pt2"


@pytest.fixture(scope="session")
def images():
    return np.load(DIGITS / "calibrate.npy")


@pytest.fixture(scope="session")
def test_set():
    return np.load(DIGITS / "test_inputs.npy"), np.load(DIGITS / "test_labels.npy")


@pytest.fixture(scope="session")
def tool():
    return os.environ["DEUTERON_PROGRAM"]


@pytest.fixture(scope="session")
def program(digits, images):
    import deuteron

    return deuteron.compile(digits, target="cortex-m55", calibration=images)


@pytest.fixture(scope="session")
def exported(digits):
    import torch

    return torch.export.load(digits)
