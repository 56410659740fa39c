"""What end-to-end tests share: the program as a process, clients of its wires, readers of its files. Found by PYTHONPATH=tests."""
