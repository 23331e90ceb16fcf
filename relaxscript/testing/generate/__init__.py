"""The parts of random programs: functions that add one binding each, over one `Context`."""
