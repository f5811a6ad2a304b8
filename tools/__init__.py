"""For developers; nothing here is run by CI but its tests."""
