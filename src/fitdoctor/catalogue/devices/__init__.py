"""Devices and distribution strategies, and what judges of them read and edit."""
