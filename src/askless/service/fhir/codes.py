"""Checks the form of LOINC codes and UCUM units."""

from __future__ import annotations

import re

__all__ = ["FHIR_CODE", "FHIR_ID", "LOINC", "UCUM", "is_loinc", "is_ucum"]

LOINC = "http://loinc.org"
UCUM = "http://unitsofmeasure.org"
FHIR_ID = re.compile(r"[A-Za-z0-9\-.]{1,64}")
FHIR_CODE = re.compile(r"\S+(?: \S+)*")

_LOINC = re.compile(r"(\d{1,7})-(\d)")
# fmt: off
_PREFIXES = """Y Z E P T G M k h da d c m u n p f a z y Ki Mi Gi Ti"""
_METRIC = """m s g rad K cd C mol sr Hz N Pa J W A V F Ohm S Wb Cel T H lm lx Bq Gy Sv L l ar t bar u eV pc st P U cal
    kat [iU] [IU] eq osm Bi St Gal G Oe Mx sb ph Lmb Ci R RAD REM bit By Bd m[H2O] m[Hg] g% [arb'U]
    [USP'U] [CFU] [PFU]"""
_OTHER = """10* 10^ [pi] % [ppth] [ppm] [ppb] [pptr] deg ' '' min h d a a_t a_j a_g wk mo mo_s mo_j mo_g AU atm [in_i]
    [ft_i] [yd_i] [mi_i] [lb_av] [oz_av] [gr] [drp] [pH] [HPF] [LPF] [gal_us] [pt_us] [cup_us] [tbs_us]
    [tsp_us] [foz_us]
    [Cal] [diop] [degF] [in_i'Hg] [in_i'H2O] [MET] [Btu] [HP] B Np [pt_br] tex [car_m]"""
# fmt: on
_ATOMS = frozenset(
    [*_OTHER.split(), *_METRIC.split(), *(prefix + unit for prefix in _PREFIXES.split() for unit in _METRIC.split())]
)
_EXPONENT = re.compile(r"(.*?[^\d+\-])([+-]?\d+)")
_ANNOTATION = re.compile(r"\{[!-z|~]*?\}")
_ANNOTATED = re.compile(r"(?<=[\w\]%*'])" + _ANNOTATION.pattern)


def is_loinc(code: str) -> bool:
    """Whether a code has the form of a LOINC code, with the right check digit.

    >>> is_loinc("8867-4"), is_loinc("8867-5"), is_loinc("heart rate")
    (True, False, False)
    """
    found = _LOINC.fullmatch(code)
    if found is None:
        return False
    total = 0
    for place, digit in enumerate(reversed(found.group(1))):  # from the last digit on, every second one counts double
        value = int(digit) * (2 if place % 2 == 0 else 1)
        total += value // 10 + value % 10
    return -total % 10 == int(found.group(2))


def is_ucum(unit: str) -> bool:
    """Whether a text is a UCUM unit of known atoms, prefixes, exponents, products, quotients and annotations.

    >>> [is_ucum(unit) for unit in ("mm[Hg]", "/min", "10*9/L", "umol/L", "{score}", "%", "Cel", "mmHg", "")]
    [True, True, True, True, True, True, True, False, False]
    """
    if not unit or len(unit) > 100 or not unit.isascii() or " " in unit:
        return False
    bare = _ANNOTATION.sub("1", _ANNOTATED.sub("", unit))  # an annotation alone counts as 1
    terms = re.split(r"[./]", bare.removeprefix("/"))
    return all(_is_term(term) for term in terms)


def _is_term(term: str) -> bool:
    if term.isdecimal() or term in _ATOMS:
        return True
    found = _EXPONENT.fullmatch(term)
    return found is not None and found.group(1) in _ATOMS
