"""Every attack ends in its error in time, the others are answered meanwhile, and nothing is left behind."""

from __future__ import annotations

import asyncio
import time

import pytest

from interpreters.core.engine import Limits, Script
from interpreters.core.errors import LimitError, ScriptError
from interpreters.sandbox.pool import SandboxPool
from interpreters.sandbox.runner import SandboxRunner
from tests.interpreters.sandbox.attacks import ATTACKS, GOOD, Attack
from tests.interpreters.sandbox.surroundings import nothing_left_behind

LIMITS = Limits(seconds=0.3)
PATIENT = Limits(seconds=20)  # for the harmless: a busy machine is no attack
CLEARLY_IN_TIME = 5.0


def check(attack: Attack, error: ScriptError) -> None:
    assert isinstance(error, attack.error)
    if attack.limits:
        assert isinstance(error, LimitError)
        assert error.limit in attack.limits
    assert attack.says in str(error)
    assert error.script == attack.name
    assert "\n" not in str(error)
    assert len(str(error)) < 1000


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: f"{attack.language}: {attack.name}")
async def test_an_attack_ends_in_its_error_while_others_are_answered(attack: Attack) -> None:
    good = Script("good", attack.language, GOOD[attack.language])
    with nothing_left_behind():
        async with SandboxPool(2, limits=LIMITS) as pool:
            await pool.call(good, "GetReplicas", [b"{}"], limits=PATIENT)
            started = time.monotonic()
            evil = asyncio.ensure_future(
                pool.call(Script(attack.name, attack.language, attack.text), "GetReplicas", [b"{}"])
            )
            while not evil.done():
                assert (await pool.call(good, "GetReplicas", [b"{}"], limits=PATIENT)).values[0] == b"3"
                await asyncio.sleep(0.005)
            with pytest.raises(ScriptError) as caught:
                await evil
            assert time.monotonic() - started < CLEARLY_IN_TIME
            check(attack, caught.value)


@pytest.mark.parametrize("language", sorted({attack.language for attack in ATTACKS}))
def test_the_blocking_front_survives_all_attacks_in_a_row(language: str) -> None:
    good = Script("good", language, GOOD[language])
    with nothing_left_behind(), SandboxRunner(limits=LIMITS) as runner:
        for attack in ATTACKS:
            if attack.language == language:
                with pytest.raises(ScriptError) as caught:
                    runner.call(Script(attack.name, language, attack.text), "GetReplicas", [b"{}"])
                check(attack, caught.value)
                assert runner.call(good, "GetReplicas", [b"{}"], limits=PATIENT).values[0] == b"3"
