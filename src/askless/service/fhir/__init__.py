"""FHIR R4 adaptive questionnaires (Structured Data Capture 4.0). Stateless: everything is in the resources."""

__all__: list[str] = []
