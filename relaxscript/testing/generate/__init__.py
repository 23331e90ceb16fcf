"""What random programs are made of: functions that add one binding each, over one `Context`."""
