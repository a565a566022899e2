import { expect, it } from "vitest";
import { explainFailure } from "../../src/isolated-venv/explain-failure.js";

const about = { className: "my_pkg.filters.Guard", pluginsFolder: "/srv/plugins" };

it.each([
  {
    name: "its own module is not there",
    text: "Unexpected error: No module named 'my_pkg.filters'",
    says: "import of `my_pkg.filters` failed: No module named 'my_pkg.filters' (there is no my_pkg.filters in /srv/plugins, nor in its environment)",
  },
  {
    name: "its own package is not there",
    text: "Unexpected error: No module named 'my_pkg'",
    says: "import of `my_pkg.filters` failed: No module named 'my_pkg' (there is no my_pkg in /srv/plugins, nor in its environment)",
  },
  {
    name: "what it needs is not installed",
    text: "Unexpected error: No module named 'numpy'",
    says: "import of `my_pkg.filters` failed: No module named 'numpy' (it needs numpy, which its requirements_file does not bring)",
  },
  {
    name: "a package with a longer name is not its own",
    text: "Unexpected error: No module named 'my_pk'",
    says: "import of `my_pkg.filters` failed: No module named 'my_pk' (it needs my_pk, which its requirements_file does not bring)",
  },
  {
    name: "the class is not in its module",
    text: "Unexpected error: module 'my_pkg.filters' has no attribute 'Guard'",
    says: "import of `my_pkg.filters` failed: it has no class `Guard`",
  },
  {
    name: "the code cannot be read",
    text: "Unexpected error: invalid syntax (filters.py, line 3)",
    says: "import of `my_pkg.filters` failed: invalid syntax (filters.py, line 3)",
  },
  { name: "the plugin raised", text: "Unexpected error: ValueError('no')", says: "ValueError('no')" },
  { name: "nothing is known", text: "Unexpected error: ", says: "Unexpected error: " },
])("says that $name", ({ text, says }) => {
  expect(explainFailure(text, about)).toBe(says);
});
