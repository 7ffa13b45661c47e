//! Encoded bodies at every split, cut short, changed, one after the other, and meant to do harm.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::*;

const CODINGS: [Coding; 3] = [Coding::Gzip, Coding::Brotli, Coding::Zstd];
const TEXT: &[u8] = br#"{"ssn":"078-05-1120","name":"name name name","list":[1,2,3,"name name name"]}"#;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn brotli(text: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::new();
    // Its best would take a minute for the long ones.
    let parameters = ::brotli::enc::BrotliEncoderParams { quality: 5, ..Default::default() };
    ::brotli::BrotliCompress(&mut &*text, &mut encoded, &parameters).unwrap();
    encoded
}

fn zstd(text: &[u8]) -> Vec<u8> {
    compress_to_vec(text, CompressionLevel::Fastest)
}

fn encoded(coding: Coding, text: &[u8]) -> Vec<u8> {
    match coding {
        Coding::Gzip => gzip(text),
        Coding::Brotli => brotli(text),
        Coding::Zstd => zstd(text),
    }
}

fn push(decoder: &mut Decoder, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut pieces = decoder.pieces(bytes);
    while let Some(piece) = pieces.next_piece()? {
        assert!(!piece.is_empty());
        out.extend_from_slice(piece);
    }
    Ok(())
}

fn decoded(coding: Coding, parts: &[&[u8]]) -> Result<Vec<u8>, Fault> {
    let (mut decoder, mut out) = (Decoder::new(coding), Vec::new());
    for part in parts {
        push(&mut decoder, part, &mut out)?;
    }
    decoder.finish().map(|()| out)
}

/// Something that no coding makes small, though it makes it smaller.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 7_u32;
    let mut letter = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        b'a' + (state >> 28) as u8
    };
    (0..length).map(|_| letter()).collect()
}

#[test]
fn names_of_codings_are_known_in_any_case_and_alone() {
    let of = |values: &[&str]| {
        Encoding::of(&Head(values.iter().map(|v| ("content-encoding".into(), v.as_bytes().into())).collect()))
    };
    for values in [&[][..], &["identity"], &["Identity, "], &["", "identity"]] {
        assert_eq!(of(values), Encoding::Identity, "{values:?}");
    }
    for (values, coding) in [
        (&["gzip"][..], Coding::Gzip),
        (&["X-GZip"], Coding::Gzip),
        (&["identity", " BR "], Coding::Brotli),
        (&["zstd, identity"], Coding::Zstd),
    ] {
        assert_eq!(of(values), Encoding::One(coding), "{values:?}");
    }
    for values in
        [&["gzip, br"][..], &["gzip", "gzip"], &["deflate"], &["gzip;q=1"], &["x-made-up"], &["\u{e9}"]]
    {
        assert_eq!(of(values), Encoding::Other, "{values:?}");
    }
}

#[test]
fn body_is_the_same_at_every_split() {
    for coding in CODINGS {
        let body = encoded(coding, TEXT);
        for at in 0..=body.len() {
            let (one, other) = body.split_at(at);
            assert_eq!(decoded(coding, &[one, other]).as_deref(), Ok(TEXT), "{coding:?} {at}");
        }
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        assert_eq!(decoded(coding, &bytes).as_deref(), Ok(TEXT), "{coding:?}");
    }
}

#[test]
fn long_and_short_bodies_come_back() {
    for coding in CODINGS {
        for text in [vec![], b"1".to_vec(), noise(100_000), vec![b'x'; 200_000], noise(1_000_000)] {
            let body = encoded(coding, &text);
            let pieces: Vec<&[u8]> = body.chunks(4097).collect();
            assert!(decoded(coding, &pieces).as_deref() == Ok(&text[..]), "{coding:?} {}", text.len());
        }
    }
}

#[test]
fn body_that_is_cut_short_is_never_whole() {
    for coding in CODINGS {
        let body = encoded(coding, TEXT);
        for length in 1..body.len() {
            assert!(decoded(coding, &[&body[..length]]).is_err(), "{coding:?} {length}");
        }
        assert_eq!(decoded(coding, &[]), Ok(vec![]), "no byte is no body");
    }
}

#[test]
fn bytes_behind_the_end_are_malformed() {
    for coding in CODINGS {
        let body = encoded(coding, TEXT);
        for more in [&b"\0"[..], b"\n", b"{}", b"\x1f", b"\x28\xb5"] {
            let after = [&body, more].concat();
            for parts in [vec![&after[..]], vec![&body[..], more]] {
                assert!(matches!(decoded(coding, &parts), Err(Fault::Malformed(_))), "{coding:?} {more:?}");
            }
        }
    }
}

#[test]
fn change_of_a_bit_never_gives_another_text_where_there_is_a_checksum() {
    // Names and times of gzip's header count for nothing.
    for (coding, from) in [(Coding::Gzip, 10), (Coding::Zstd, 0)] {
        let body = encoded(coding, TEXT);
        for at in from..body.len() {
            for bit in 0..8 {
                let mut changed = body.clone();
                changed[at] ^= 1 << bit;
                let found = decoded(coding, &[&changed]);
                assert!(found.is_err() || found.as_deref() == Ok(TEXT), "{coding:?} {at} {bit}");
            }
        }
    }
}

#[test]
fn nothing_that_comes_in_its_place_is_taken_for_an_encoding() {
    for coding in CODINGS {
        for body in
            [&b"{}"[..], TEXT, b"\x1f\x8b", b"\x1f\x8b\x08\xe0", b"\xff\xff\xff\xff\xff\xff", &[0; 40]]
        {
            assert!(decoded(coding, &[body]).is_err(), "{coding:?} {body:?}");
        }
    }
}

#[test]
fn one_body_after_the_other_is_one_where_the_coding_says_so() {
    for coding in [Coding::Gzip, Coding::Zstd] {
        let (one, other) = TEXT.split_at(20);
        let body = [encoded(coding, one), encoded(coding, b""), encoded(coding, other)].concat();
        for at in 0..=body.len() {
            let (a, b) = body.split_at(at);
            assert_eq!(decoded(coding, &[a, b]).as_deref(), Ok(TEXT), "{coding:?} {at}");
        }
    }
    let twice = [brotli(TEXT), brotli(TEXT)].concat();
    assert!(decoded(Coding::Brotli, &[&twice]).is_err());
}

#[test]
fn every_part_of_gzips_header_is_read_and_its_checksum_is_held_to() {
    let body = gzip(TEXT);
    for flags in 0..32_u8 {
        let mut header = vec![0x1f, 0x8b, 8, flags, 1, 2, 3, 4, 0, 255];
        if flags & 4 != 0 {
            header.extend([3, 0, b'a', 0, b'c']);
        }
        for _ in 0..(flags >> 3 & 1) + (flags >> 4 & 1) {
            header.extend(b"name\0");
        }
        let mut crc = flate2::Crc::new();
        crc.update(&header);
        if flags & 2 != 0 {
            header.extend(&crc.sum().to_le_bytes()[..2]);
        }
        let whole = [&header[..], &body[10..]].concat();
        for at in 0..header.len() {
            let (a, b) = whole.split_at(at);
            assert_eq!(decoded(Coding::Gzip, &[a, b]).as_deref(), Ok(TEXT), "{flags} {at}");
        }
        if flags & 2 != 0 {
            let mut changed = whole.clone();
            changed[4] ^= 1;
            assert!(decoded(Coding::Gzip, &[&changed]).is_err(), "{flags}");
        }
    }
    let empty_extra = [&[0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 0, 0][..], &body[10..]].concat();
    assert_eq!(decoded(Coding::Gzip, &[&empty_extra]).as_deref(), Ok(TEXT));
}

#[test]
fn gzip_of_endless_members_ends() {
    let members = gzip(b"").repeat(100_000);
    assert_eq!(decoded(Coding::Gzip, &[&members]), Err(Fault::Malformed("it has too many members")));
}

/// A frame of raw blocks with this descriptor and what follows it.
fn frame(header: &[u8], blocks: &[&[u8]]) -> Vec<u8> {
    let mut frame = [&0xfd2f_b528_u32.to_le_bytes(), header].concat();
    for (index, block) in blocks.iter().enumerate() {
        let is_last = u32::from(index + 1 == blocks.len());
        frame.extend(&((block.len() as u32) << 3 | is_last).to_le_bytes()[..3]);
        frame.extend(*block);
    }
    frame
}

#[test]
fn zstd_frames_are_taken_with_windows_of_8_mib_and_no_more() {
    for (descriptor, is_taken) in
        [(0, true), (13 << 3, true), (13 << 3 | 1, false), (14 << 3, false), (255, false)]
    {
        let found = decoded(Coding::Zstd, &[&frame(&[0, descriptor], &[b"{", b"}"])]);
        let expected = if is_taken { Ok(b"{}".to_vec()) } else { Err(Fault::Window(8 << 20)) };
        assert_eq!(found, expected, "{descriptor}");
    }
    let single = |length: u32| frame(&[&[0xa0], &length.to_le_bytes()[..]].concat(), &[b"{}"]);
    assert_eq!(decoded(Coding::Zstd, &[&single(2)]).as_deref(), Ok(&b"{}"[..]));
    assert_eq!(decoded(Coding::Zstd, &[&single((8 << 20) + 1)]), Err(Fault::Window(8 << 20)));
    assert!(
        matches!(decoded(Coding::Zstd, &[&single(3)]), Err(Fault::Malformed(_))),
        "the length is held to"
    );
    assert!(
        matches!(decoded(Coding::Zstd, &[&single(1)]), Err(Fault::Malformed(_))),
        "the length is held to"
    );
}

#[test]
fn zstd_with_a_dictionary_is_refused_and_frames_to_skip_are_skipped() {
    for header in [&[1, 0, 7][..], &[2, 0, 0, 7], &[3, 0, 0, 0, 0, 7]] {
        let found = decoded(Coding::Zstd, &[&frame(header, &[b"{}"])]);
        assert_eq!(found, Err(Fault::Malformed("it needs a dictionary")), "{header:?}");
    }
    assert_eq!(decoded(Coding::Zstd, &[&frame(&[1, 0, 0], &[b"{}"])]).as_deref(), Ok(&b"{}"[..]));
    let skipped = [&0x184d_2a5f_u32.to_le_bytes()[..], &3_u32.to_le_bytes(), b"abc"].concat();
    let nothing = [&0x184d_2a50_u32.to_le_bytes()[..], &[0; 4]].concat();
    let body = [&skipped[..], &zstd(b"{"), &nothing, &skipped, &zstd(b"}"), &skipped].concat();
    for at in 0..=body.len() {
        let (a, b) = body.split_at(at);
        assert_eq!(decoded(Coding::Zstd, &[a, b]).as_deref(), Ok(&b"{}"[..]), "{at}");
    }
}

/// Blocks of 128 KiB of one letter, 4 bytes each.
fn zstd_bomb(blocks: usize) -> Vec<u8> {
    let block = |is_last: bool| ((128 << 10) << 3 | 1 << 1 | u32::from(is_last)).to_le_bytes();
    let mut bomb = frame(&[0, 7 << 3], &[]);
    for index in 0..blocks {
        bomb.extend(&block(index + 1 == blocks)[..3]);
        bomb.push(b'x');
    }
    bomb
}

#[test]
fn what_grows_too_much_is_refused_however_it_is_cut() {
    let letters = vec![b'x'; 16 << 20];
    for (coding, bomb) in [
        (Coding::Gzip, gzip(&letters)),
        (Coding::Brotli, brotli(&letters)),
        (Coding::Zstd, zstd(&letters)),
        (Coding::Zstd, zstd_bomb(100)),
    ] {
        for length in [1, 100, bomb.len()] {
            let (mut decoder, mut most, mut out) = (Decoder::new(coding), 0, 0);
            let result = bomb.chunks(length).try_for_each(|chunk| {
                let mut pieces = decoder.pieces(chunk);
                while let Some(piece) = pieces.next_piece()? {
                    most = most.max(piece.len());
                    out += piece.len();
                }
                Ok(())
            });
            assert_eq!(result, Err(Fault::Ratio(200)), "{coding:?} {length}");
            assert!(most <= 1 << 20 && out <= (4 << 20) + 200 * bomb.len(), "{coding:?} {most} {out}");
        }
    }
}

#[test]
fn one_piece_becomes_no_more_than_can_be_written_at_once() {
    // About 50 times its length, so that the ratio does not count.
    let text = noise(1 << 20).chunks(100).flat_map(|some| some.repeat(30)).collect::<Vec<u8>>();
    let body = gzip(&[text.clone(), text].concat());
    assert!(body.len() * 200 > 60 << 20, "{}", body.len());
    assert_eq!(decoded(Coding::Gzip, &[&body]), Err(Fault::AtOnce(32 << 20)));
    let pieces: Vec<&[u8]> = body.chunks(16 << 10).collect();
    assert_eq!(decoded(Coding::Gzip, &pieces).map(|text| text.len()), Ok((1 << 20) * 60));
}

#[test]
fn what_a_decoder_holds_is_told_and_bounded() {
    let text = noise(9 << 20);
    for (coding, most) in [(Coding::Gzip, 128 << 10), (Coding::Brotli, 9 << 20), (Coding::Zstd, 9 << 20)] {
        let body = encoded(coding, &text);
        let (mut decoder, mut out, mut held) = (Decoder::new(coding), Vec::new(), 0);
        for chunk in body.chunks(64 << 10) {
            push(&mut decoder, chunk, &mut out).unwrap();
            held = held.max(decoder.held());
        }
        assert!(out == text);
        assert!(held <= most && held >= 64 << 10, "{coding:?} {held}");
    }
}

#[test]
fn what_was_flushed_comes_out_at_once() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let (mut decoder, mut out) = (Decoder::new(Coding::Gzip), Vec::new());
    for _ in 0..3 {
        encoder.write_all(b"data: {}\n\n").unwrap();
        encoder.flush().unwrap();
        push(&mut decoder, &std::mem::take(encoder.get_mut()), &mut out).unwrap();
        assert!(out.ends_with(b"data: {}\n\n"));
        out.clear();
    }
    let mut encoder = ::brotli::CompressorWriter::new(Vec::new(), 4096, 5, 22);
    let (mut decoder, mut out, mut sent) = (Decoder::new(Coding::Brotli), Vec::new(), 0);
    for _ in 0..3 {
        encoder.write_all(b"data: {}\n\n").unwrap();
        encoder.flush().unwrap();
        push(&mut decoder, &encoder.get_ref()[sent..], &mut out).unwrap();
        sent = encoder.get_ref().len();
        assert!(out.ends_with(b"data: {}\n\n"));
        out.clear();
    }
}
