"""Deliberately broken models and trials of methods, by the check that must find them."""

from dataclasses import replace
from types import SimpleNamespace

from askless.acquisition import Cases, Policy, Predictor
from askless.encoding import TableEncoder
from askless.model import FittedModel
from askless.models import RandomOrder


class Wrapped(Policy, Predictor):
    """A policy or a predictor that does something else first."""

    def __init__(self, inner):
        self.inner = inner

    def score(self, state):
        return self.inner.score(state)

    def predict(self, state):
        return self.inner.predict(state)


class ShowsAll(Wrapped):
    def score(self, state):
        state.x[:] = 1.0
        return self.inner.score(state)


class Doubles(Wrapped):
    def predict(self, state):
        return 2.0 * self.inner.predict(state)


class WatchesTheClock(Wrapped):
    def predict(self, state):
        p = self.inner.predict(state) + 0.01 * state.asked.sum(axis=1, keepdims=True)
        return p / p.sum(axis=1, keepdims=True)


class Unpicklable(Wrapped):
    def __reduce__(self):
        return Doubles, (self.inner,)


class BatchEncoder(TableEncoder):
    """Centres each column of the table at hand."""

    def transform(self, table, row_numbers=None):
        cases = super().transform(table)
        return Cases(cases.x - cases.x.mean(axis=0), cases.present)


class NoBudget(FittedModel):
    def _rules(self, max_features, stopping):
        return ()


class AsksForOneOnly(FittedModel):
    def interview(self, **how):
        return super().interview(**how | {"max_features": 1})


class WritesInTables(FittedModel):
    def rollout(self, table, **how):
        table.iloc[0, 0] = 99.0
        return super().rollout(table, **how)


class TakesOracles(FittedModel):
    def interview(self, **how):
        return None


def batch_encoded(model):
    encoder = model.encoder
    prices = [feature.cost for feature in model.schema.features]
    return replace(model, encoder=BatchEncoder(encoder.columns, encoder._codecs, prices, named=encoder.named))


def subclassed(kind):
    return lambda model: kind(**vars(model))


def wrapped(**parts):
    return lambda model: replace(model, **{name: kind(getattr(model, name)) for name, kind in parts.items()})


def badly_saved(model):
    policy = type(model.policy)(model.policy.scores)
    policy.arrays = lambda: {"scores": policy.scores[::-1].copy()}
    return replace(model, policy=policy)


MODELS = {
    "questions_obey_the_budget": [(subclassed(NoBudget), r"NoBudget\(Ranking\): a case was asked \d questions")],
    "groups_are_asked_as_a_whole": [(wrapped(policy=ShowsAll), "entries are wrongly shown")],
    "predictions_are_valid_at_every_step": [(wrapped(predictor=Doubles), "range from|is off 1 by 1")],
    "unasked_cells_do_not_matter": [(batch_encoded, "it peeks")],
    "cases_are_encoded_alone": [(batch_encoded, "row 0 is encoded differently alone")],
    "tables_are_left_alone": [(subclassed(WritesInTables), "changed the table")],
    "interviews_agree_with_rollouts": [
        (subclassed(AsksForOneOnly), r"an interview of row 0 asks \['\w+'\], a roll-out")
    ],
    "unknown_answers_leave_the_prediction": [
        (wrapped(predictor=WatchesTheClock), '"unknown" changed the prediction')
    ],
    "oracles_are_refused": [(subclassed(TakesOracles), "interview took a policy that looks at the truth")],
    "a_file_keeps_the_model": [(badly_saved, "the loaded model (asks|writes)")],
    "pickling_keeps_the_model": [(wrapped(predictor=Unpicklable), "the pickled copy predicts")],
}


# Trials of a method


def other_table(trial):
    table = trial.table.copy()
    table.iloc[0, 0] = -1.0
    return replace(trial, table=table)


def other_target(trial):
    target = trial.target.copy()
    target[:2] = target[2:4][::-1]
    target[0] = "low" if trial.target[0] != "low" else "high"
    return replace(trial, target=target)


def other_model(trial):
    class Copy:
        model_ = replace(trial.second.model_, predictor=Doubles(trial.second.model_.predictor))

        def rollout(self, table):
            return self.model_.rollout(table)

    return replace(trial, second=Copy())


def another_file(trial):
    class Copy:
        model_ = replace(trial.second.model_, summary={"time": 3.5})

    return replace(trial, second=Copy())


def promised(trial):
    kind = type(trial.method)
    promising = type(kind.__name__, (kind,), {"informative": True})()
    unfounded = replace(trial.first.model_, policy=RandomOrder(0))
    return replace(trial, method=promising, first=SimpleNamespace(model_=unfounded))


METHODS = {
    "fitting_leaves_its_input_alone": [
        (other_table, "fitting changed the table"),
        (other_target, "fitting changed [12] of 120 labels"),
    ],
    "fitting_leaves_random_numbers_alone": [
        (
            lambda trial: replace(trial, drew_from=("numpy", "torch")),
            "fitting moved the global random numbers of numpy and torch on",
        )
    ],
    "information_is_promised_as_it_is_given": [(promised, "it says that its scores are information")],
    "settings_are_kept_as_given": [
        (
            lambda trial: replace(trial, settings=trial.settings | {"epochs": 9}),
            r"fitting changed the setting\(s\) epochs",
        )
    ],
    "the_same_seed_gives_the_same_model": [(other_model, r"a second fit predicts \d+ of \d+ numbers differently")],
    "the_same_seed_gives_the_same_file": [(another_file, r"the files of two fits differ in \d+ of \d+ bytes")],
}
