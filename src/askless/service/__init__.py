"""Serves saved models as a web page, an HTTP API and FHIR adaptive questionnaires.

Needs the extra `serve`; runs on numpy, without torch or scikit-learn. `askless serve` starts it.
"""

__all__: list[str] = []
