"""The sections of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from askless.plotting.style import percent
from askless.report.comparison import lead, needed
from askless.report.figures import curve_figure, frequency_figure, svg_uri
from askless.report.html import first_sentence, listing, paragraph, picture, section, table, text

if TYPE_CHECKING:
    import pandas as pd

    from askless.acquisition.schema import Feature, Part
    from askless.report.comparison import Comparison

__all__ = ["frequency", "head", "measured", "questions", "scores", "sentence", "tiles"]


def sentence(comparison: Comparison) -> str:
    """The main result in one sentence, as plain text."""
    found = comparison.headline
    ours, theirs = (contender.name for contender in comparison.contenders[:2])
    if not found.significant:
        return _not_ahead(comparison)
    if found.reached:
        saving = f"{_questions(found.asked)} for a score that the {theirs} reaches with {found.needed}"
        return f"The {ours} policy needs {saving}"
    if found.beaten > found.asked:
        return f"The {ours} policy is better with {_questions(found.asked)} than the {theirs} with {found.beaten}"
    return f"With {_questions(found.asked)} each, the {ours} policy is better than the {theirs}"


def _not_ahead(comparison: Comparison) -> str:
    """The result if the first method is not significantly better with any number of questions."""
    ours, theirs = (contender.name for contender in comparison.contenders[:2])
    behind = np.flatnonzero(lead(comparison)["high"].iloc[1:] < 0.0) + 1
    if len(behind):
        number = _questions(int(behind[-1]))
        return f"With {number} each, the {ours} policy is worse than the {theirs}"
    return f"The {ours} policy and the {theirs} do not differ significantly"


def head(comparison: Comparison) -> str:
    """The title and a description of the data."""
    data = comparison.data
    return (
        f'<header>\n<p class="mark">askless <span>· report on {text(data.name)}</span></p>\n'
        f"<h1>{text(sentence(comparison))}.</h1>\n"
        f'<p class="lead">{text(first_sentence(data.description))} Each case is asked at most {comparison.budget} of '
        f"{len(comparison.schema)} features, and only their values are used to predict it.</p>\n</header>"
    )


def tiles(comparison: Comparison) -> str:
    """The numbers of the main result."""
    found, label = comparison.headline, comparison.metric.label
    ours, theirs = (contender.name for contender in comparison.contenders[:2])
    last = comparison.contenders[0].curve.iloc[-1]
    best = (_three(last["score"]), f"{label} with {_questions(comparison.budget)}; 95% interval {_span(last)}")
    if found.significant and (found.reached or found.beaten > found.asked):
        against = found.needed if found.reached else f"over {found.beaten}"
        words = f"questions for the same {label}, {ours} against {theirs}"
        cards = [(f"{found.asked} <small>instead of {against}</small>", words)]
        cards += [(_three(found.score), f"{label} with {_questions(found.asked)}"), best]
    else:
        gain = lead(comparison).iloc[found.asked]
        words = f"lead in {label} over the {theirs} with {_questions(found.asked)}; 95% interval {_span(gain)}"
        cards = [(_three(gain["score"], "+"), words), best]
    if found.significant and not np.all(comparison.schema.prices == 1.0):
        words = f"mean cost of these questions, {ours} against {theirs}"
        cards.append((f"{_cost(found.cost)} <small>instead of {_cost(found.control_cost)}</small>", words))
    tile = '<div class="tile{}"><b>{}</b><span>{}</span></div>'
    body = (tile.format("" if i else " first", number, text(words)) for i, (number, words) in enumerate(cards))
    return '<div class="tiles">\n' + "\n".join(body) + "\n</div>"


def scores(comparison: Comparison) -> str:
    """Scores by number of questions, as a figure and a table."""
    ours, theirs = comparison.contenders[:2]
    fewest = needed(ours.curve, theirs.curve, comparison.metric)
    ahead, found = lead(comparison), comparison.headline
    rows = []
    for i, asked in enumerate(ours.curve["budget"]):
        lines = (contender.curve.iloc[i] for contender in comparison.contenders)
        cells = [f"{_three(line['score'])}<small>{_span(line)}</small>" for line in lines]
        gain = f"{_three(ahead['score'].iloc[i], '+')}<small>{_span(ahead.iloc[i])}</small>"
        rows.append([str(asked), *cells, gain, f"over {comparison.budget}" if fewest[i] is None else str(fewest[i])])
    names = ["asked", *(contender.name for contender in comparison.contenders), "lead", f"{theirs.name} needs"]
    better = "higher is better" if comparison.metric.greater_is_better else "lower is better"
    return section(
        "Score against the number of questions",
        paragraph(
            f"{comparison.metric.label} on {comparison.n_test:,} test cases ({better}). "
            "Bands and small numbers are 95% intervals of a bootstrap over these cases."
        ),
        picture(svg_uri(curve_figure(comparison)), f"{comparison.metric.label} against features asked"),
        table(names, rows, numbers=range(len(names)), here=found.asked if found.significant else -1),
        paragraph(
            f"The lead is that of the {ours.name} policy over the {theirs.name}, with the interval of a paired "
            f"bootstrap. The last column is the number of questions with which the {theirs.name} scores at least as "
            f"well as the {ours.name} policy in that row, without regard to intervals.",
            "quiet note",
        ),
    )


def frequency(comparison: Comparison) -> str:
    """How often each feature is asked."""
    first = comparison.contenders[0]
    return section(
        "What is asked",
        paragraph(
            f"The share of cases in which the {first.name} policy asks each feature within each budget. The first "
            "question is the same for all cases; the answers decide the next ones."
        ),
        picture(svg_uri(frequency_figure(comparison)), "how often each feature is asked"),
    )


def questions(comparison: Comparison) -> str:
    """All features with their possible answers and costs."""
    trajectory = comparison.contenders[0].trajectory
    asked = trajectory.selected(trajectory.order.shape[1]).mean(axis=0)
    rows = []
    for i in np.argsort(-asked, kind="stable"):
        feature = comparison.schema.features[i]
        meter = f'<div class="meter"><i style="width:{100 * asked[i]:.1f}%"></i></div>'
        share = text(percent(asked[i])) + "%"
        rows.append([text(feature.name), text(_answers(feature)), f"{feature.cost:g}", meter, share])
    columns = ("feature", "answers", "cost", "", "asked")
    words = (
        f"The possible answers and the cost of each feature, and how often {comparison.contenders[0].name} asks it."
    )
    return section("The questions", paragraph(words), table(columns, rows, numbers=(2, 4)), kind="long")


def measured(comparison: Comparison, facts: Mapping[str, str]) -> str:
    """How the results were obtained."""
    data = comparison.data
    content = {
        "data": f"{data.name}: {data.description} Source: {data.source}. Licence: {data.licence}.",
        "rows": f"{comparison.n_train:,} training and {comparison.n_test:,} test rows, drawn at random with seed "
        f"{comparison.seed}, the same for all methods. Encoding statistics come from the training rows.",
    }
    for contender in comparison.contenders:
        content[contender.name] = f"{contender.about}; trained in {contender.seconds:.0f} s"
    content["fixed order"] = (
        f"{content.get('fixed order', '')}. Its network is trained on the first features of this order: "
        f"{'; '.join(comparison.order[: comparison.budget])}"
    )
    content["total time"] = f"{comparison.seconds:.0f} s for training and scoring"
    return section("How it was measured", listing({**content, **facts}))


def _questions(number: int) -> str:
    return f"{number} question{'' if number == 1 else 's'}"


def _cost(cost: float) -> str:
    return f"{cost:.1f}" if cost < 10 else f"{cost:,.0f}"


def _span(line: pd.Series[Any]) -> str:
    return f"{_three(line['low'])} to {_three(line['high'])}"


def _three(number: float, sign: str = "-") -> str:
    """A number with three decimals and a typographic minus; with `sign` "+" also a plus."""
    return f"{number:{sign}.3f}".replace("-", "\u2212")


def _answers(feature: Feature) -> str:
    if feature.is_group:
        return "; ".join(f"{part.name}: {_range(part)}" for part in feature.parts)
    return _range(feature.parts[0])


def _range(part: Part) -> str:
    if part.kind == "number":
        return "a number" if part.low is None else f"{part.low:g} to {part.high:g}"
    return "yes or no" if part.kind == "boolean" else ", ".join(map(str, part.choices or ()))
