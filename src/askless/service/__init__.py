"""Serves saved models as a web page, an HTTP API and FHIR adaptive questionnaires.

Needs `askless[serve]`; runs on numpy, without torch or scikit-learn. `askless serve` starts it.
"""

__all__: list[str] = []
