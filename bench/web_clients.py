"""Pages without a browser: web_clients.py ADDRESS COUNT: each takes and acknowledges the stream as a page does, until it is killed."""
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))
from support.live_page import Page  # noqa: E402


def listen(page):
    try:
        while True:
            page.receive()
    except (EOFError, OSError):
        pass


def main():
    made = [Page(sys.argv[1]) for _ in range(int(sys.argv[2]))]
    threads = [threading.Thread(target=listen, args=(page,), daemon=True) for page in made]
    for thread in threads:
        thread.start()
    print("ready", flush=True)
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
