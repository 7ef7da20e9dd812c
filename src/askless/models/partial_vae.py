"""A partial variational autoencoder: what the unknown features may be, given those that are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askless.models.network import Network

MAX_LOG_VARIANCE = 10.0  # the prior's is 0; for a case that is unlike all others it should at least stay finite


@dataclass(frozen=True, eq=False)
class Heads:
    """What the decoder's outputs are: a mean for each number, then logits for the answers to each other feature."""

    counts: np.ndarray  # (features,) answers of each; 0 for a number

    @property
    def numbers(self) -> np.ndarray:
        """The features that are numbers."""
        return np.flatnonzero(self.counts == 0)

    @property
    def choices(self) -> np.ndarray:
        """The features that are not."""
        return np.flatnonzero(self.counts)

    @property
    def width(self) -> int:
        """How many outputs there are."""
        return len(self.numbers) + int(self.counts.sum())

    def probabilities(self, logits: np.ndarray) -> np.ndarray:
        """(answers in all, m): the probabilities of each feature's answers, from the logits (answers in all, m)."""
        counts = self.counts[self.choices]
        starts = np.cumsum(counts) - counts
        powers: np.ndarray = np.exp(logits - np.repeat(np.maximum.reduceat(logits, starts, axis=0), counts, axis=0))
        powers /= np.repeat(np.add.reduceat(powers, starts, axis=0), counts, axis=0)
        return powers


@dataclass(frozen=True, eq=False)
class PartialVae:
    """An encoder over (values, mask), normal latent variables, and a decoder; the latent noise is always the same."""

    encoder: Network  # to the latent variables' means and log variances
    weights: tuple[np.ndarray, ...]  # of the decoder's layers, each (inputs, outputs)
    biases: tuple[np.ndarray, ...]
    noise: np.ndarray  # (samples, latent) of the latent variables, standard normal
    jitter: np.ndarray  # (numbers, samples) of the decoded numbers, around their means

    @property
    def outputs(self) -> int:
        """How many outputs the decoder has."""
        return len(self.biases[-1])

    def latent(self, x: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, latent) means and standard deviations, given values (n, columns) and what is known (n, features)."""
        outputs = self.encoder(x.astype(self.noise.dtype, copy=False), known)
        mean, log_variance = np.split(outputs, 2, axis=1)
        return mean, np.exp(0.5 * np.minimum(log_variance, MAX_LOG_VARIANCE))

    def decode(self, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
        """(outputs, b, samples): numbers and logits, from what `latent` gave for b cases."""
        samples, latent = self.noise.shape
        h = (mean[:, None] + sd[:, None] * self.noise).reshape(-1, latent)
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            h = h @ weight
            h += bias
            np.maximum(h, 0, out=h)
        outputs: np.ndarray = self.weights[-1].T @ h.T
        outputs += self.biases[-1][:, None]
        outputs = outputs.reshape(len(outputs), len(mean), samples)
        outputs[: len(self.jitter)] += self.jitter[:, None]
        return outputs

    # Files

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything by a name."""
        named = {f"encoder.{name}": array for name, array in self.encoder.arrays().items()}
        named |= {"noise": self.noise, "jitter": self.jitter}
        named |= {f"decoder.bias{i}": bias for i, bias in enumerate(self.biases)}
        return named | {f"decoder.weight{i}": weight for i, weight in enumerate(self.weights)}

    @classmethod
    def build(cls, arrays: dict[str, np.ndarray]) -> PartialVae:
        """The autoencoder that `arrays` came from."""
        prefix = "encoder."
        encoder = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        depth = sum(name.startswith("decoder.bias") for name in arrays)
        return cls(
            Network.build(encoder),
            tuple(arrays[f"decoder.weight{i}"] for i in range(depth)),
            tuple(arrays[f"decoder.bias{i}"] for i in range(depth)),
            arrays["noise"],
            arrays["jitter"],
        ).checked()

    def checked(self) -> PartialVae:
        """Itself, if the shapes fit one another."""
        inputs = [self.noise.shape[-1], *(len(bias) for bias in self.biases)]
        fits = (
            self.noise.ndim == self.jitter.ndim == 2
            and self.noise.shape[0] == self.jitter.shape[1]
            and len(self.jitter) <= self.outputs
            and len(self.encoder.biases[-1]) == 2 * inputs[0]
            and len(self.weights) == len(self.biases) > 0
            and all(w.shape == (i, o) for w, i, o in zip(self.weights, inputs, inputs[1:], strict=False))
            and all(array.dtype.kind == "f" for array in (*self.weights, *self.biases, self.noise, self.jitter))
        )
        if not fits:
            raise ValueError("the layers of the autoencoder do not fit one another")
        return self
