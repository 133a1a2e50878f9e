# SPDX-License-Identifier: Apache-2.0
"""What Python programs of an agent usually do: temporary files, JSON, child processes, threads, unit tests."""
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import unittest


class Usual(unittest.TestCase):
    def test_temporary_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "data.json")
            with open(name, "w", encoding="utf-8") as file:
                json.dump({"answer": 42}, file)
            with open(name, encoding="utf-8") as file:
                self.assertEqual(json.load(file), {"answer": 42})

    def test_child(self):
        child = subprocess.run([sys.executable, "-c", "import sys; print(sys.stdin.read().upper())"],
                               input="text", capture_output=True, text=True, check=True, timeout=120)
        self.assertEqual(child.stdout, "TEXT\n")

    def test_threads(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.assertEqual(sum(pool.map(lambda n: n * n, range(10))), 285)

    def test_replace(self):
        with open("made.tmp", "w", encoding="utf-8") as file:
            file.write("new")
        os.replace("made.tmp", "made.txt")
        os.remove("made.txt")


if __name__ == "__main__":
    unittest.main()
