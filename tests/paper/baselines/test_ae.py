"""The autoencoder against plain NumPy: its gradients by finite differences, its steps by dense ADADELTA."""

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo.paper.baselines import AE
from ramodo.paper.baselines import ae as module
from ramodo.paper.baselines.ae import Net


def leaky(a):
    return np.where(a > 0, a, 0.01 * a)


def loss(X, encoder, bias, decoder):
    """Half the squared error, summed over features, averaged over rows; the decoder's last column is its bias."""
    hidden = leaky(X @ encoder + bias)
    return 0.5 * np.sum((hidden @ decoder[:, :-1].T + decoder[:, -1] - X) ** 2) / len(X)


def slope(function, value):
    """Of a function at an array, by central differences."""
    found = np.empty_like(value)
    for place in np.ndindex(value.shape):
        kept = value[place]
        value[place] = kept + 1e-6
        above = function()
        value[place] = kept - 1e-6
        found[place] = (above - function()) / 2e-6
        value[place] = kept
    return found


def dense_gradients(X, net):
    weights = net.encoder.value, net.bias.value, net.decoder.value
    return [slope(lambda: loss(X, *weights), value) for value in weights]


@pytest.fixture(name="X")
def given_rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(12, 9)) * (rng.random((12, 9)) < 0.5)


@pytest.fixture
def net():
    net = Net(9, 4, np.float64, np.random.default_rng(1))
    net.bias.value[:] = np.random.default_rng(2).normal(size=4) / 10
    return net


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_gradients_by_finite_differences(X, net, container):
    expected = dense_gradients(X, net)
    features, rows = module._occurring(container(X))
    encoder, bias, products, inner = net.gradients(features, rows)
    decoder = net.decoder.value @ inner
    decoder[features] -= products
    np.testing.assert_allclose(encoder, expected[0][features], atol=1e-7)
    np.testing.assert_allclose(bias, expected[1], atol=1e-7)
    np.testing.assert_allclose(decoder, expected[2], atol=1e-7)


def test_steps_equal_dense_adadelta(X, monkeypatch):
    """Over batches that leave features out, so that what was skipped must be made up for; and over several blocks."""
    monkeypatch.setattr(module, "_BLOCK", 4)
    net = Net(9, 4, np.float64, np.random.default_rng(1))
    values = [net.encoder.value.copy(), net.bias.value.copy(), net.decoder.value.copy()]
    accumulators = [[np.zeros_like(v), np.zeros_like(v)] for v in values]
    for begin in (0, 3, 6, 9, 0, 3):
        batch = X[begin : begin + 3]
        net.step(sp.csr_array(batch))
        gradients = [slope(lambda batch=batch: loss(batch, *values), value) for value in values]
        for value, gradient, (squares, updates) in zip(values, gradients, accumulators, strict=True):
            squares[:] = 0.95 * squares + 0.05 * gradient**2
            change = np.sqrt((updates + 1e-7) / (squares + 1e-7)) * gradient
            updates[:] = 0.95 * updates + 0.05 * change**2
            value -= change
    for found, expected in zip((net.encoder, net.bias, net.decoder), values, strict=True):
        np.testing.assert_allclose(found.value, expected, atol=1e-5)


def test_training_lowers_the_error():
    rng = np.random.default_rng(0)
    X = rng.random((200, 3)) @ rng.random((3, 20))

    def error(n_epochs):
        ae = AE(3, n_epochs=n_epochs, batch_size=32, random_state=0).fit(X)
        return loss(X, ae.weights_, ae.bias_, ae.decoder_)

    assert error(200) < 0.5 * error(1)


def test_columns_are_the_hidden_layer(X):
    ae = AE(4, n_epochs=2, random_state=0).fit(X)
    np.testing.assert_allclose(ae.transform(X), leaky(X @ ae.weights_ + ae.bias_), atol=1e-12)


def test_an_epoch_draws_as_many_rows_as_asked_for(X, monkeypatch):
    batches = []
    monkeypatch.setattr(Net, "step", lambda self, batch: batches.append(len(batch)))
    AE(2, n_epochs=2, samples_per_epoch=7, batch_size=5, random_state=0).fit(X)
    assert batches == [5, 2, 5, 2]
