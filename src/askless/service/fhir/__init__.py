"""FHIR R4 adaptive questionnaires (Structured Data Capture 4.0). Stateless: the resources hold everything."""

__all__: list[str] = []
