"""Settings shared by all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Two shared cores are slow now and then; that is no property of the code under test.
settings.register_profile("interp", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("interp")
