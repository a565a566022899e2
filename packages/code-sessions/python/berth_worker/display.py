"""Values in the forms that they offer: plain text always, and HTML, pictures and data by their `_repr_*_` methods."""
from binascii import b2a_base64

_METHODS = {
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_latex_": "text/latex",
    "_repr_svg_": "image/svg+xml",
    "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg",
    "_repr_pdf_": "application/pdf",
    "_repr_json_": "application/json",
    "_repr_javascript_": "application/javascript",
}


#: These offer nothing but text, and most results are one of them.
_PLAIN = frozenset((int, float, complex, bool, str, bytes, list, tuple, dict, set))


def show_result(value, capture, max_chars):
    """`text/plain` of a last expression. Its other forms, where there are any, are a display of kind `result`."""
    text = _cut(repr(value), max_chars)
    forms = _rich_forms(value)
    if forms:
        capture.show("result", {"text/plain": text, **forms})
    return text


def display(values, raw, capture):
    for value in values:
        if raw:
            forms = _as_texts(value)
        else:
            forms = {"text/plain": _cut(repr(value), capture.display_room + 1), **_rich_forms(value)}
        capture.show("display", forms)


def _rich_forms(value):
    kind = type(value)
    forms = {}
    # Not asked of classes of a kind of their own, which need not have a hash.
    if isinstance(value, type) or (type(kind) is type and kind in _PLAIN):
        return forms
    bundle = _call(kind, "_repr_mimebundle_", value)
    if isinstance(bundle, tuple) and bundle:
        bundle = bundle[0]
    if isinstance(bundle, dict):
        forms.update(_as_texts(bundle))
    for method, mime in _METHODS.items():
        if mime not in forms:
            form = _call(kind, method, value)
            if isinstance(form, tuple) and form:
                form = form[0]
            if form is not None:
                forms.update(_as_texts({mime: form}))
    return forms


def _call(kind, method, value):
    """Looked up at the class, as special methods are: objects that answer to every name offer nothing."""
    function = getattr(kind, method, None)
    if not callable(function):
        return None
    try:
        return function(value)
    except Exception:
        return None  # the other forms are shown all the same


def _as_texts(bundle):
    forms = {}
    for mime, form in bundle.items():
        if type(mime) is not str or form is None:
            continue
        if isinstance(form, (bytes, bytearray)):
            forms[mime] = b2a_base64(form, newline=False).decode()
        elif isinstance(form, str):
            forms[mime] = str.__str__(form)
        else:
            text = _as_json(form)
            if text is not None:
                forms[mime] = text
    return forms


def _as_json(form):
    import json

    try:
        return json.dumps(form)
    except (TypeError, ValueError, RecursionError):
        return None


def _cut(text, limit):
    text = str.__str__(text)  # `repr` may give a text of a class of its own, which says what length it likes
    return text if len(text) <= limit else f"{text[:limit]}… {len(text) - limit} characters more"
