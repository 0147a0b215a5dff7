//! Writes an ONNX graph and the weights beside it as one file, as most repositories of the Hub have them.

/// The wire types of protocol buffers that ONNX uses.
const VARINT: u64 = 0;
const BYTES: u64 = 2;

/// One field of a message: its number, its wire type, and its content.
struct Field<'m> {
    number: u64,
    wire: u64,
    value: u64,
    bytes: &'m [u8],
}

fn varint(rest: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (first, others) = rest.split_first().unwrap();
        *rest = others;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            break;
        }
    }
    value
}

fn fields(mut rest: &[u8]) -> Vec<Field<'_>> {
    let mut out = Vec::new();
    while !rest.is_empty() {
        let key = varint(&mut rest);
        let (number, wire) = (key >> 3, key & 7);
        let value = varint(&mut rest);
        let length = if wire == BYTES { usize::try_from(value).unwrap() } else { 0 };
        assert!([VARINT, BYTES].contains(&wire), "wire type {wire}");
        let (bytes, others) = rest.split_at(length);
        out.push(Field { number, wire, value, bytes });
        rest = others;
    }
    out
}

fn push_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

fn push_bytes(number: u64, bytes: &[u8], out: &mut Vec<u8>) {
    push_varint(number << 3 | BYTES, out);
    push_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// The message with each field of this number replaced by what `change` makes of it.
fn map(message: &[u8], number: u64, change: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.len());
    for field in fields(message) {
        match field.wire {
            BYTES if field.number == number => push_bytes(number, &change(field.bytes), &mut out),
            BYTES => push_bytes(field.number, field.bytes, &mut out),
            _ => {
                push_varint(field.number << 3 | VARINT, &mut out);
                push_varint(field.value, &mut out);
            }
        }
    }
    out
}

/// `graph` with its weights inside. Numbers of fields: onnx.proto3, `ModelProto.graph`, `GraphProto.initializer`,
/// `TensorProto.external_data`, `.data_location`, `.raw_data`.
pub(super) fn inlined(graph: &[u8], weights: &[u8]) -> Vec<u8> {
    map(graph, 7, |graph| map(graph, 5, |tensor| inlined_tensor(tensor, weights)))
}

fn inlined_tensor(tensor: &[u8], weights: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut offset, mut length) = (0, None);
    for field in fields(tensor) {
        match (field.number, field.wire) {
            (13, BYTES) => {
                let entry = fields(field.bytes);
                let number = || std::str::from_utf8(entry[1].bytes).unwrap().parse::<usize>().unwrap();
                match entry[0].bytes {
                    b"offset" => offset = number(),
                    b"length" => length = Some(number()),
                    _ => {}
                }
            }
            (14, VARINT) => {}
            (number, BYTES) => push_bytes(number, field.bytes, &mut out),
            (number, _) => {
                push_varint(number << 3 | VARINT, &mut out);
                push_varint(field.value, &mut out);
            }
        }
    }
    if let Some(length) = length {
        push_bytes(9, &weights[offset..offset + length], &mut out);
    }
    out
}
