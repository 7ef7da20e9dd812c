"""JSON schemas of the API's requests and responses, exact for the served models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from askless.exceptions import CODES
from askless.service.models import AskedPart, Models, ServedModel
from askless.service.rules import DEAREST, rule_schemas

__all__ = [
    "COMPONENTS",
    "answers_schema",
    "array",
    "next_schema",
    "of_models",
    "record",
    "records_schema",
    "ref",
    "terms_schema",
    "value_schema",
]

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
OPTIONAL_TEXT: Schema = {"type": ["string", "null"]}
OPTIONAL_NUMBER: Schema = {"type": ["number", "null"]}
PREDICTION: Schema = {
    "type": "object",
    "additionalProperties": NUMBER,
    "description": "The probability of each class; or `mean` and, if known, `sd`.",
}


def ref(name: str) -> Schema:
    """A reference to one of the components."""
    return {"$ref": f"#/components/schemas/{name}"}


def record(properties: dict[str, Schema], optional: Iterable[str] = (), **more: Any) -> Schema:
    """An object with exactly these properties."""
    required = [name for name in properties if name not in set(optional)]
    shape = {"type": "object", "properties": properties, "additionalProperties": False, **more}
    return shape | ({"required": required} if required else {})


def array(items: Schema, **more: Any) -> Schema:
    """A list."""
    return {"type": "array", "items": items, **more}


PART = record(
    {
        "name": TEXT,
        "text": TEXT,
        "help": OPTIONAL_TEXT,
        "kind": {"enum": ["number", "category", "boolean"]},
        "choices": {"type": ["array", "null"], "items": {"type": ["string", "number", "boolean"]}},
        "unit": {**OPTIONAL_TEXT, "description": "UCUM"},
        "loinc": OPTIONAL_TEXT,
        "low": {**OPTIONAL_NUMBER, "description": "A lower number is refused."},
        "high": {**OPTIONAL_NUMBER, "description": "A higher number is refused."},
    }
)
QUESTION = record(
    {
        "name": TEXT,
        "text": TEXT,
        "help": OPTIONAL_TEXT,
        "kind": {"enum": ["number", "category", "boolean", "group"]},
        "loinc": OPTIONAL_TEXT,
        "parts": array(PART, minItems=1),
        "cost": NUMBER,
    }
)
STANDING = {
    "model": TEXT,
    "question": {"oneOf": [{"type": "null"}, ref("Question")], "description": "The next question; null when done."},
    "prediction": ref("Prediction"),
    "candidates": array(
        record({"name": TEXT, "value": OPTIONAL_NUMBER, "information": OPTIONAL_NUMBER, "price": NUMBER}),
        description="The leading candidates for the next question, the chosen one first. `value` is what they are "
        "ordered by; `information` is in nats, if the method estimates it.",
    ),
    "done": {"type": "boolean"},
    "stop_reason": OPTIONAL_TEXT,
    "asked": {"type": "integer", "description": "The number of questions asked."},
    "cost": {**NUMBER, "description": "The total cost of the questions asked."},
    "notes": array(TEXT, description="Remarks, such as on numbers outside the range of the training data."),
}
EVENT = record(
    {
        "action": {"enum": ["answer", "unknown", "later", "tell"]},
        "feature": TEXT,
        "value": {},
        "cost": NUMBER,
        "prediction": ref("Prediction"),
    }
)
MODEL = record(
    {
        "name": TEXT,
        "title": TEXT,
        "task": {"enum": ["classification", "regression"]},
        "target": OPTIONAL_TEXT,
        "classes": array(TEXT),
        "max_features": {"type": "integer"},
        "fingerprint": TEXT,
        "features": array(ref("Question")),
        "method": {},
        "training": {"type": "object"},
    }
)
ERROR = record(
    {
        "error": record(
            {
                "status": {"type": "integer"},
                "code": {"enum": sorted(CODES), "description": "Codes stay the same between releases."},
                "message": {**TEXT, "description": "For people; may change between releases."},
                "where": {**OPTIONAL_TEXT, "description": "The place in the request, such as answers.age."},
            }
        )
    }
)
COMPONENTS: dict[str, Schema] = {
    "Prediction": PREDICTION,
    "Question": QUESTION,
    "Standing": record(STANDING),
    "Interview": record(
        {
            "id": {**TEXT, "description": "A secret: anyone who knows it can read and change the interview."},
            **STANDING,
            "history": array(ref("Event")),
            "events": {"type": "integer", "description": "The number of stored changes, undone ones included."},
        }
    ),
    "Event": EVENT,
    "Model": MODEL,
    "Models": record({"models": array(ref("Model"))}),
    "Predictions": record({"model": TEXT, "predictions": array(ref("Prediction"))}),
    "Error": ERROR,
    "Status": record({"status": TEXT}),
}


def value_schema(part: AskedPart) -> Schema:
    """The accepted values of a part."""
    if part.kind == "boolean":
        return {"type": "boolean"}
    if part.kind == "category":
        return {"enum": list(part.part.choices or ())}
    low, high = part.valid
    return NUMBER | ({} if low is None else {"minimum": low}) | ({} if high is None else {"maximum": high})


def answers_schema(model: ServedModel) -> Schema:
    """Answers by feature; all of them optional."""
    properties = {}
    for feature, parts in zip(model.schema.features, model.parts, strict=True):
        if feature.is_group:
            values = {part.name: value_schema(part) for part in parts}
            properties[feature.name] = record(values, optional=values, minProperties=1)
        else:
            properties[feature.name] = value_schema(parts[0])
    return record(properties, optional=properties)


def terms_schema(model: ServedModel, **more: Schema) -> Schema:
    """The options of an interview."""
    names = array({"enum": list(model.schema.names)})
    prices = {name: {"type": "number", "minimum": 0, "maximum": DEAREST} for name in model.schema.names}
    rules = rule_schemas(model)
    properties = {
        "known": {
            **answers_schema(model),
            "description": "Answers known beforehand: free and not counted.",
        },
        "unavailable": {**names, "description": "Features that are never asked."},
        "costs": {**record(prices, optional=prices), "description": "Costs that replace those of the model."},
        "stopping": {
            **record(rules, optional=rules),
            "description": "Stopping rules. The first to fire stops the interview.",
        },
    }
    return record({**more, **properties}, optional=properties)


def next_schema(model: ServedModel) -> Schema:
    """The body of a request for the next question."""
    names = array({"enum": list(model.schema.names)})
    schema = terms_schema(
        model,
        answers={**answers_schema(model), "description": "The answers so far, in the order of the questions."},
        unknown={
            **names,
            "description": "Features that were asked and remained unknown. They must not be in `answers` or `known`.",
        },
    )
    schema["required"] = ["answers"]
    return schema


def records_schema(model: ServedModel) -> Schema:
    """The body of a batch of partial records."""
    return record({"records": array(answers_schema(model), minItems=1, maxItems=10_000)})


def of_models(models: Models, schema: Any) -> Schema:
    """The schema of one model, or of any of several."""
    each = [schema(model) for model in models]
    return each[0] if len(each) == 1 else {"anyOf": each}
