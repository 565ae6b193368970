"""A frame, the roles of its columns and separate judgments, as a caller gave them; nothing is looked up yet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from frame_metrics.backends.frames import backend_of
from frame_metrics.backends.protocol import Backend, Limits
from frame_metrics.inputs.cached_arrays import computed_once
from frame_metrics.roles.memory import bytes_of
from frame_metrics.roles.roles import Roles

GivenJudgments = tuple[Any, dict[str, Any]]  # a frame of judgments, and the options of ``judge``


@dataclass(frozen=True, eq=False, kw_only=True)
class Given:
    """A frame of any kind, with roles and conventions as the caller gave them, and separate judgments."""

    frame: Any
    roles: Roles
    judgments: GivenJudgments | None
    backend: Backend  # of the frame
    judgments_backend: Backend | None  # of the separate judgments
    proxy: Given | None  # the same frame with the judgments of a machine (``proxy=``)
    expressed: frozenset[str] = frozenset()  # the names of columns that were made of the caller's expressions

    @property
    def columns_unchanged(self) -> bool:
        """True as long as the frames have the columns that they had when they were given."""
        others = (self.judgments_backend, None if self.proxy is None else self.proxy.judgments_backend)
        return self.backend.unchanged and all(one is None or one.unchanged for one in others)

    @property
    def available(self) -> list[Any]:
        """The names of the frame's columns."""
        return self.backend.names()

    @property
    def has_saved_numbers(self) -> bool:
        """True if the frame has numbers that were computed elsewhere (``value=``)."""
        return self.roles.get("value") is not None

    @computed_once
    def limits(self) -> Limits:
        """The memory and the folder of temporary files that a large frame may use."""
        return limits_of(self.roles)

    def without_judgments(self, roles: Roles) -> Given:
        """Return the same frame with other roles, and without separate judgments."""
        return replace(self, roles=roles, judgments=None, judgments_backend=None, proxy=None)


def limits_of(roles: Roles) -> Limits:
    """Return the memory and the folder of temporary files that a large frame may use."""
    memory = roles.get("memory")
    return Limits(None if memory is None else bytes_of(memory), roles.get("temporary"))


def given_of(
    frame: Any,
    roles: Roles,
    judgments: GivenJudgments | None = None,
    *,
    backend: Backend | None = None,
    expressed: frozenset[str] = frozenset(),
) -> Given:
    """Return what a caller gave, with the backends of the frames; raise for what is no frame.

    ``backend``: that of the frame, if it is known.
    """
    backend, judgments_backend, proxy = backend or backend_of(frame), None, None
    if judgments is not None:
        judgments_backend = backend_of(judgments[0])
        if judgments[1].get("proxy") is not None:
            machine, options, machine_roles = judgments[1]["proxy"]
            proxy = given_of(frame, roles | machine_roles, (machine, options), backend=backend, expressed=expressed)
    return Given(
        frame=frame,
        roles=roles,
        judgments=judgments,
        backend=backend,
        judgments_backend=judgments_backend,
        proxy=proxy,
        expressed=expressed,
    )
