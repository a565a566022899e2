"""Makes a source distribution: PATH NAME VERSION RAN. Its back-end needs nothing else, and writes its name to RAN when it runs."""
import io
import sys
import tarfile

path, name, version, ran = sys.argv[1:]
back = f'''
import os, zipfile
with open({ran!r}, "a") as log:
    log.write("{name} ")
def build_wheel(folder, config_settings=None, metadata_directory=None):
    file, info = "{name}-{version}-py3-none-any.whl", "{name}-{version}.dist-info"
    with zipfile.ZipFile(os.path.join(folder, file), "w") as wheel:
        wheel.writestr("{name}/__init__.py", "told = '{name} {version}'")
        wheel.writestr(info + "/METADATA", "Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
        wheel.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "/RECORD", "")
    return file
'''
files = {
    "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "back"\nbackend-path = ["."]\n',
    "back.py": back,
    "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
}
with tarfile.open(path, "w:gz") as archive:
    for each, content in files.items():
        entry = tarfile.TarInfo(f"{name}-{version}/{each}")
        entry.size = len(content.encode())
        archive.addfile(entry, io.BytesIO(content.encode()))
