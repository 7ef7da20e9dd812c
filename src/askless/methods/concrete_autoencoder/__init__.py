"""The supervised Concrete autoencoder.

`method` holds the settings, `selection` the layer of selectors and its gradients, `fitting` the phases.
"""

from askless.methods.concrete_autoencoder.method import ConcreteAutoencoder

__all__ = ["ConcreteAutoencoder"]
