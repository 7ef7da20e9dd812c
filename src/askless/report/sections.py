"""The parts of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from askless.report.comparison import headline, needed
from askless.report.figures import curve_figure, frequency_figure, svg_uri
from askless.report.html import first_sentence, listing, section, table, text

if TYPE_CHECKING:
    from askless.core.schema import Feature, Part
    from askless.report.comparison import Comparison

__all__ = ["frequency", "head", "measured", "questions", "scores", "sentence", "tiles"]


def sentence(comparison: Comparison) -> str:
    """What was found, in one sentence without HTML."""
    found = headline(comparison)
    ours, theirs = (contender.name for contender in comparison.contenders[:2])
    if found.control is None:
        return f"The {ours} policy scores more with {_questions(found.asked)} than the {theirs} with {comparison.budget}"
    if found.saved <= 0:
        return f"Here the {ours} policy and the {theirs} need about the same number of questions"
    return f"The {ours} policy reaches with {_questions(found.asked)} what the {theirs} needs {found.control} for"


def head(comparison: Comparison) -> str:
    """The title and what the data is."""
    data = comparison.data
    return (
        f'<header>\n<p class="mark">askless <span>· report on {text(data.name)}</span></p>\n'
        f"<h1>{text(sentence(comparison))}.</h1>\n"
        f'<p class="lead">{text(first_sentence(data.description))} Each case is asked at most {comparison.budget} of '
        f"{len(comparison.schema)} features, and predicted from those alone.</p>\n</header>"
    )


def tiles(comparison: Comparison) -> str:
    """The headline's numbers."""
    found = headline(comparison)
    ours, theirs = (contender.name for contender in comparison.contenders[:2])
    against = found.control if found.control is not None else f"over {comparison.budget}"
    last = comparison.contenders[0].curve.iloc[-1]
    label = comparison.metric.label
    cards = [
        (f"{found.asked} <small>instead of {against}</small>", f"questions for the same {label}, {ours} against {theirs}"),
        (f"{found.score:.3f}", f"{label} with {_questions(found.asked)}"),
        (f"{last['score']:.3f}", f"{label} with {_questions(int(last['budget']))}; 95% interval {_span(last)}"),
    ]
    if not np.all(comparison.schema.prices == 1.0):
        words = f"mean cost of these questions, {ours} against {theirs}"
        cards.append((f"{_cost(found.cost)} <small>instead of {_cost(found.control_cost)}</small>", words))
    tile = '<div class="tile{}"><b>{}</b><span>{}</span></div>'
    body = (tile.format("" if i else " first", number, text(words)) for i, (number, words) in enumerate(cards))
    return '<div class="tiles">\n' + "\n".join(body) + "\n</div>"


def scores(comparison: Comparison) -> str:
    """The curves and their table."""
    ours, theirs = comparison.contenders[:2]
    fewest = needed(ours.curve, theirs.curve, comparison.metric)
    rows = []
    for i, asked in enumerate(ours.curve["budget"]):
        lines = (contender.curve.iloc[i] for contender in comparison.contenders)
        cells = [f"{line['score']:.3f}<small>{_span(line)}</small>" for line in lines]
        rows.append([str(asked), *cells, f"over {comparison.budget}" if fewest[i] is None else str(fewest[i])])
    names = ["features asked", *(contender.name for contender in comparison.contenders), f"{theirs.name} needs"]
    label = comparison.metric.label
    better = "higher is better" if comparison.metric.greater_is_better else "lower is better"
    return section(
        "Score against the number of questions",
        f'<p class="quiet">{text(label)} on {comparison.n_test:,} cases that training did not see ({better}). Bands and '
        "small numbers: 95% interval of a bootstrap over these cases.</p>",
        f'<figure><img src="{svg_uri(curve_figure(comparison))}" alt="{text(label)} against features asked"></figure>',
        table(names, rows, numbers=range(len(names)), here=headline(comparison).asked),
        f'<p class="quiet">Last column: with how many questions the {text(theirs.name)} scores at least as well as the '
        f"{text(ours.name)} policy does in that row.</p>",
    )


def frequency(comparison: Comparison) -> str:
    """Which features the policy asks."""
    first = comparison.contenders[0]
    return section(
        "What is asked",
        f'<p class="quiet">The share of cases in which the {text(first.name)} policy asks each feature within each budget. '
        "The first question is the same for all; then the answers decide.</p>",
        f'<figure><img src="{svg_uri(frequency_figure(comparison))}" alt="how often each feature is asked"></figure>',
    )


def questions(comparison: Comparison) -> str:
    """Every feature, its answers and its price."""
    trajectory = comparison.contenders[0].trajectory
    asked = trajectory.selected(trajectory.order.shape[1]).mean(axis=0)
    rows = []
    for i in np.argsort(-asked, kind="stable"):
        feature = comparison.schema.features[i]
        meter = f'<div class="meter"><i style="width:{100 * asked[i]:.1f}%"></i></div>'
        rows.append([text(feature.name), text(_answers(feature)), f"{feature.cost:g}", meter, f"{asked[i]:.0%}"])
    columns = ("feature", "answers", "cost", "asked by the policy", "")
    return section("The questions", table(columns, rows, numbers=(2, 4)), kind="long")


def measured(comparison: Comparison, facts: Mapping[str, str]) -> str:
    """How all this was come by."""
    data = comparison.data
    told = {
        "data": f"{text(data.name)}: {text(data.description)} Source: {text(data.source)}. Licence: {text(data.licence)}.",
        "rows": f"{comparison.n_train:,} to learn from and {comparison.n_test:,} to score on, drawn at random with seed "
        f"{comparison.seed}; the same for all. Statistics for encoding come from the training rows alone.",
    }
    for contender in comparison.contenders:
        told[contender.name] = f"{text(contender.about)}; trained in {contender.seconds:.0f} s"
    told["fixed order"] = (
        f"{told.get('fixed order', '')}. Its network is trained for exactly the sets that this order leads to: "
        f"{text(', '.join(comparison.order[: comparison.budget]))}"
    )
    told["in all"] = f"{comparison.seconds:.0f} s for training and scoring"
    return section("How it was measured", listing(told | {name: text(fact) for name, fact in facts.items()}))


def _questions(number: int) -> str:
    return f"{number} question{'' if number == 1 else 's'}"


def _cost(cost: float) -> str:
    return f"{cost:.1f}" if cost < 10 else f"{cost:,.0f}"


def _span(line: Mapping[str, float]) -> str:
    return f"{line['low']:.3f} to {line['high']:.3f}"


def _answers(feature: Feature) -> str:
    if feature.is_group:
        return "; ".join(f"{part.name}: {_range(part)}" for part in feature.parts)
    return _range(feature.parts[0])


def _range(part: Part) -> str:
    if part.kind == "number":
        return f"{part.low:g} to {part.high:g}"
    return "yes or no" if part.kind == "boolean" else ", ".join(map(str, part.choices or ()))
