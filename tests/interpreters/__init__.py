"""Tests of the interpreters package."""
