"""Nothing that is frozen has changed; see `frozen`."""

import pytest

import frozen


@pytest.mark.parametrize(
    "name",
    [pytest.param(each.name, marks=[pytest.mark.slow] * each.slow) for each in frozen.GROUPS.values()],
)
def test_nothing_has_changed(name):
    assert not (found := frozen.check(name)), found


def test_a_difference_can_be_read():
    def held(**texts):
        return frozen.Held.of(texts, whole=True)

    before = held(one='{"a":1,"b":[{"c":1.5},{"c":2}]}', two="x", gone="x")
    shown = frozen.difference(before, held(one='{"a":1,"b":[{"c":1.5},{"c":3}]}', two="x", new="y"))
    assert shown.startswith("3 of 4 texts differ\n--- one (held)\n+++ one (now)\n")
    assert '\n-.b {"c": 2}\n+.b {"c": 3}\n' in shown
    assert not frozen.difference(before, before)
    assert "other bytes" in frozen.difference(held(a='{"a":1}'), held(a='{"a": 1}'))
