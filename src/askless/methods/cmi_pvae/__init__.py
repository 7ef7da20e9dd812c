"""Conditional mutual information by imagined answers, from a partial variational autoencoder."""

from askless.methods.cmi_pvae.method import CmiPvae

__all__ = ["CmiPvae"]
