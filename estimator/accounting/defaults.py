"""What accounting does unless told otherwise. Settings of the server and its libraries read the numbers here."""

from __future__ import annotations

from typing import Final

PROVISIONAL_SECONDS: Final = 600.0
"""How long a charge made at admission counts unless the object is seen."""

RETENTION_SECONDS: Final = 30 * 86400.0
"""How long decisions are kept."""

HOURLY_DAYS: Final = 30.0
DAILY_DAYS: Final = 1095.0
"""How many days the history is kept by the hour, and by the day."""
