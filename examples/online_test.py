"""Read an online test: users, a covariate, and a check of the split.

A shop gives each user one of two rankers and logs what was shown and clicked. The log
is made up here, with a seed, so that the truth is known: "new" puts the relevant
product a little higher. Users differ far more than rankers do, some search much more
than others, and the searches of one user are alike.

    python examples/online_test.py [--users USERS] [--seed SEED]

The frames are of polars; the calls of `frame_metrics` are the same for pandas.
"""

import argparse
import textwrap
from collections.abc import Sequence

import numpy as np
import polars as pl

import frame_metrics

SHOWN = 10  # products of a search
BETTER = 0.12  # how much higher the new ranker scores what is relevant
SPLIT = {"old": 0.5, "new": 0.5}


# 1. The log: a row is a product that a user was shown, and whether it was clicked.


def log_of(users: int, seed: int) -> pl.DataFrame:
    """Make up a test in which each user has one ranker.

    The column `before` is the user's mean reciprocal rank a month ago.
    """
    rng = np.random.default_rng(seed)
    arm = rng.choice([*SPLIT], users)
    device = rng.choice(["phone", "web"], users, p=[0.6, 0.4])
    skill = rng.normal(size=users)  # of a user, to say what is wanted
    before = searched(rng, skill, np.full(users, 8)).reshape(users, 8, SHOWN)
    ranks = np.where(before.any(axis=2), before.argmax(axis=2) + 1, np.inf)
    searches = 1 + rng.poisson(3 * np.exp(skill / 3))
    user = np.repeat(np.arange(users), searches)
    merit = skill[user] + BETTER * (arm[user] == "new")
    clicked = searched(rng, merit, np.ones(len(user), int))
    columns = {
        "user": user,
        "arm": arm[user],
        "device": device[user],
        "before": (1 / ranks).mean(axis=1)[user],
    }
    each = pl.DataFrame(columns).with_row_index("search")
    rows = each.select(pl.all().repeat_by(SHOWN).explode())
    return rows.with_columns(
        rank=pl.Series(np.tile(np.arange(SHOWN) + 1, len(each))),
        clicked=clicked.ravel(),
    )


def searched(
    rng: np.random.Generator, merit: np.ndarray, times: np.ndarray
) -> np.ndarray:
    """Clicks on products, one of which is wanted, in the order of a noisy score."""
    merit = np.repeat(merit, times)[:, None]
    score = rng.normal(size=(len(merit), SHOWN))
    score[:, :1] += 1 + merit
    wanted = np.argsort(-score, axis=1) == 0
    seen = 1 / np.sqrt(np.arange(SHOWN) + 1)  # the lower, the less it is seen
    return wanted & (rng.random(wanted.shape) < seen)


# 2. What is read from it.


def named(log: pl.DataFrame) -> "frame_metrics.IRM[pl.DataFrame]":
    """Say once what each column is."""
    return log.irm(
        query="search", rank="rank", label="clicked", arm="arm", cluster="user"
    )


def show(says: str, table: pl.DataFrame) -> None:
    print(f"\n{textwrap.fill(says, 100)}\n")
    frame_metrics.show(table)


def split_of(log: pl.DataFrame) -> pl.DataFrame:
    """What the audit says of the split."""
    checks = ["sample ratio mismatch", "units of several arms", "units split"]
    found = named(log).audit(split=SPLIT).filter(pl.col("check").is_in(checks))
    return found.select("check", "severity", "n", "share")


def report(log: pl.DataFrame) -> None:
    """Print the tables, from the split to the decision."""
    test = named(log)
    new_phones = (pl.col("arm") == "new") & (pl.col("device") == "phone")
    lost = log.filter(~new_phones | (pl.col("user") % 3 > 0))
    show(
        "Were users split as they were meant to be? Yes: there is only a fact.",
        split_of(log),
    )
    show(
        "Had the new ranker's page crashed for every third user on a phone, the audit "
        "would have warned:",
        split_of(lost),
    )
    means = test(by="device").evaluate("rr", "success@3", ci=0.95)
    show(
        "The means of each arm and device, over its own searches, with intervals that "
        "know of users. The role is arm=, not system=.",
        means.select("device", "arm", "metric", "value", "n", "ci_low", "ci_high"),
    )
    asked = ("rr", "success@3", "num_rel_ret")
    some = ["metric", "difference", "^ci_.*$", "p_value", "mde", "n", "n_units"]
    plain = test.ab_test(*asked, baseline="old", split=SPLIT)
    show(
        "The difference of the arms, by search; num_rel_ret is the clicks of a search. "
        "Users are exchanged between the arms for the p-value.",
        plain.select(some),
    )
    cuped = test.ab_test(*asked, baseline="old", covariate="before")
    show(
        "With what each user had before the test as a covariate (CUPED) the same users "
        "tell smaller differences.",
        cuped.select(some),
    )
    percent = cuped.select("metric", pl.col("^relative.*$") * 100)
    show("In percent of the old ranker:", percent)
    shorter = 1 - (cuped["mde"] / plain["mde"])
    print(
        f"\nThe intervals of rr and success@3 are {shorter[0]:.0%} and "
        f"{shorter[1]:.0%} shorter than without it."
    )
    wrong(log, some, plain)


# 3. What would have been wrong.


def wrong(log: pl.DataFrame, some: list[str], plain: pl.DataFrame) -> None:
    """Print what a call of pairs says, what it would have, and the cost of no users."""
    test = named(log)
    try:
        test(arm=None, system="arm").compare("rr")
    except frame_metrics.FrameMetricsError as error:
        text = f"With system= and compare(), which pairs, there is an error: {error}."
        print(f"\n{textwrap.fill(text, 100)}")
    arms = pl.DataFrame({"arm": [*SPLIT]})
    every = log.select("search", "user", "rank", "clicked", mine="arm")
    every = every.join(arms, how="cross")
    none = pl.col("arm") != pl.col("mine")
    zeros = every.with_columns(
        rank=pl.when(~none).then("rank"), clicked=pl.col("clicked") | none
    )
    forced = named(zeros)(arm=None, system="arm").compare("rr", baseline="old")
    show(
        "Pairs could be had by force, each search listed for both arms, without "
        "results where it was the other's. Then each mean is about half of what it is, "
        "as every other search is a 0, and the difference says which arm had more "
        "searches.",
        forced.select("metric", "value", "baseline_value", "difference", "p_value"),
    )
    alone = test(cluster=None).ab_test("rr", baseline="old")
    width, known = ((found["ci_high"] - found["ci_low"])[0] for found in (alone, plain))
    show(
        "Without the users each search counts as independent, and the interval is too "
        "short:",
        alone.select(some),
    )
    print(
        f"\nIt is {1 - width / known:.0%} shorter than that of the users, "
        "who are what was split."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Read an online test of two rankers.")
    parser.add_argument("--users", type=int, default=2000, help="of both arms (2000)")
    parser.add_argument(
        "--seed", type=int, default=1, help="of all that is made up (1)"
    )
    options = parser.parse_args(arguments)
    report(log_of(options.users, options.seed))


if __name__ == "__main__":
    main()
