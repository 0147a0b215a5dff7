//! Numbers as JavaScript writes them, so that results look like those of a server written in JavaScript.

/// `Number::toString` with radix 10: the fewest digits that are read back as the same number, plain from 1e-6 up
/// to 1e21, with an exponent beyond (ECMAScript 2025, 6.1.6.1.20).
pub(super) fn to_text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number == 0.0 {
        // Minus zero is written as 0 too.
        return "0".to_owned();
    }
    let sign = if number < 0.0 { "-" } else { "" };
    if number.is_infinite() {
        return format!("{sign}Infinity");
    }
    // Rust gives the same digits, always in the form `d.ddde-7`.
    let scientific = format!("{:e}", number.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = mantissa.replace('.', "");
    // The value is 0.digits times ten to the power of `point`.
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    let unsigned = match point {
        _ if (count..=21).contains(&point) => format!("{digits}{}", zeros(point - count)),
        1..=21 => {
            let (whole, fraction) = digits.split_at(usize::try_from(point).unwrap_or(0));
            format!("{whole}.{fraction}")
        }
        -5..=0 => format!("0.{}{digits}", zeros(-point)),
        _ => format!("{mantissa}e{:+}", point - 1),
    };
    format!("{sign}{unsigned}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_javascript_writes_them() {
        // Printed by Node.js 20.20.2: `${x}`.
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.0, "-1"),
            (0.1, "0.1"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1.0 / 3.0, "0.3333333333333333"),
            (100.0, "100"),
            (25.0, "25"),
            (12_345.678, "12345.678"),
            (123_456_789.0, "123456789"),
            (9_007_199_254_740_992.0, "9007199254740992"),
            (123_456_789_012_345_680_000.0, "123456789012345680000"),
            (999_999_999_999_999_900_000.0, "999999999999999900000"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.5e21, "1.5e+21"),
            (1e22, "1e+22"),
            (1e-6, "0.000001"),
            (0.000_001_234, "0.000001234"),
            (0.000_035, "0.000035"),
            (9.5e-7, "9.5e-7"),
            (1e-7, "1e-7"),
            (-1.5e-10, "-1.5e-10"),
            (3.000_000_000_000_000_4e-7, "3.0000000000000004e-7"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
        ];
        for (number, text) in cases {
            assert_eq!(to_text(number), text);
        }
    }

    #[test]
    fn every_number_is_read_back_as_itself() {
        let mut bits: u64 = 0x9e37_79b9_7f4a_7c15;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let number = f64::from_bits(bits);
            if number.is_finite() {
                assert_eq!(to_text(number).parse::<f64>(), Ok(number), "{number:e}");
            }
        }
    }
}
