import com.google.crypto.tink.Aead;
import com.google.crypto.tink.Configuration;
import com.google.crypto.tink.DeterministicAead;
import com.google.crypto.tink.InsecureSecretKeyAccess;
import com.google.crypto.tink.KeyStatus;
import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.Parameters;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.TinkJsonProtoKeysetFormat;
import com.google.crypto.tink.aead.AeadConfig;
import com.google.crypto.tink.aead.AesGcmParameters;
import com.google.crypto.tink.aead.AesGcmSivParameters;
import com.google.crypto.tink.aead.ChaCha20Poly1305Parameters;
import com.google.crypto.tink.aead.XChaCha20Poly1305Parameters;
import com.google.crypto.tink.daead.AesSivParameters;
import com.google.crypto.tink.daead.DeterministicAeadConfig;
import com.google.crypto.tink.prf.AesCmacPrfParameters;
import com.google.crypto.tink.prf.HkdfPrfParameters;
import com.google.crypto.tink.prf.HmacPrfParameters;
import com.google.crypto.tink.prf.PrfConfig;
import com.google.crypto.tink.prf.PrfSet;
import com.google.crypto.tink.util.Bytes;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.Security;
import java.util.HexFormat;
import org.conscrypt.Conscrypt;

/** Does with Tink for Java what each line of standard input asks for: see e2e/interop/program.py. */
public final class TinkTool {
  private static final HexFormat HEX = HexFormat.of();
  private static final byte[] NO_ASSOCIATED_DATA = new byte[0];

  public static void main(String[] words) throws Exception {
    Security.addProvider(Conscrypt.newProvider());
    AeadConfig.register();
    DeterministicAeadConfig.register();
    PrfConfig.register();
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      JsonObject answer = new JsonObject();
      try {
        run(JsonParser.parseString(line).getAsJsonObject(), answer);
      } catch (GeneralSecurityException fault) {
        answer.addProperty("error", fault.toString());
      }
      System.out.println(answer);
    }
  }

  private static void run(JsonObject request, JsonObject answer) throws GeneralSecurityException {
    Configuration configuration = RegistryConfiguration.get();
    Aead kek =
        TinkJsonProtoKeysetFormat.parseKeyset(
                request.get("kek").toString(), configuration, InsecureSecretKeyAccess.get())
            .getPrimitive(configuration, Aead.class);
    KeysetHandle handle =
        request.has("keyset")
            ? TinkJsonProtoKeysetFormat.parseEncryptedKeyset(
                request.get("keyset").toString(), kek, NO_ASSOCIATED_DATA, configuration)
            : null;
    String verb = text(request, "do");
    if (verb.equals("add") || verb.equals("disable")) {
      KeysetHandle changed = verb.equals("add") ? add(handle, request) : disable(handle, request);
      String encrypted =
          TinkJsonProtoKeysetFormat.serializeEncryptedKeyset(
              changed, kek, NO_ASSOCIATED_DATA, configuration);
      answer.add("keyset", JsonParser.parseString(encrypted));
    } else {
      answer.addProperty("output", HEX.formatHex(compute(verb, handle, request)));
    }
  }

  private static KeysetHandle add(KeysetHandle handle, JsonObject request)
      throws GeneralSecurityException {
    KeysetHandle.Builder builder =
        handle == null ? KeysetHandle.newBuilder() : KeysetHandle.newBuilder(handle);
    KeysetHandle.Builder.Entry entry =
        KeysetHandle.generateEntryFromParameters(parameters(text(request, "type"))).withRandomId();
    if (request.get("promote").getAsBoolean()) {
      entry.makePrimary();
    }
    return builder.addEntry(entry).build();
  }

  private static KeysetHandle disable(KeysetHandle handle, JsonObject request)
      throws GeneralSecurityException {
    KeysetHandle.Builder builder = KeysetHandle.newBuilder(handle);
    for (int i = 0; i < handle.size(); i++) {
      // Java's ids are signed.
      if (handle.getAt(i).getId() == (int) request.get("key_id").getAsLong()) {
        builder.getAt(i).setStatus(KeyStatus.DISABLED);
      }
    }
    return builder.build();
  }

  private static byte[] compute(String verb, KeysetHandle handle, JsonObject request)
      throws GeneralSecurityException {
    byte[] input = HEX.parseHex(text(request, "input"));
    byte[] associatedData = HEX.parseHex(text(request, "associated_data"));
    return switch (verb) {
      case "aead seal" -> primitive(handle, Aead.class).encrypt(input, associatedData);
      case "aead open" -> primitive(handle, Aead.class).decrypt(input, associatedData);
      case "deterministic seal" ->
          primitive(handle, DeterministicAead.class).encryptDeterministically(input, associatedData);
      case "deterministic open" ->
          primitive(handle, DeterministicAead.class).decryptDeterministically(input, associatedData);
      case "prf" ->
          primitive(handle, PrfSet.class).computePrimary(input, request.get("length").getAsInt());
      default -> throw new IllegalArgumentException("there is no operation " + verb);
    };
  }

  private static <P> P primitive(KeysetHandle handle, Class<P> kind) throws GeneralSecurityException {
    return handle.getPrimitive(RegistryConfiguration.get(), kind);
  }

  private static String text(JsonObject request, String name) {
    return request.get(name).getAsString();
  }

  private static Parameters parameters(String type) throws GeneralSecurityException {
    return switch (type) {
      case "aes128-gcm" -> aesGcm(16);
      case "aes256-gcm" -> aesGcm(32);
      case "aes128-gcm-siv" -> aesGcmSiv(16);
      case "aes256-gcm-siv" -> aesGcmSiv(32);
      case "chacha20-poly1305" ->
          ChaCha20Poly1305Parameters.create(ChaCha20Poly1305Parameters.Variant.TINK);
      case "xchacha20-poly1305" ->
          XChaCha20Poly1305Parameters.create(XChaCha20Poly1305Parameters.Variant.TINK);
      case "aes-siv" ->
          AesSivParameters.builder()
              .setKeySizeBytes(64)
              .setVariant(AesSivParameters.Variant.TINK)
              .build();
      case "hmac-sha256" -> hmac(32, HmacPrfParameters.HashType.SHA256);
      case "hmac-sha384" -> hmac(48, HmacPrfParameters.HashType.SHA384);
      case "hmac-sha512" -> hmac(64, HmacPrfParameters.HashType.SHA512);
      case "hkdf-sha256" -> hkdf(HkdfPrfParameters.HashType.SHA256).build();
      case "hkdf-sha512-salt" ->
          hkdf(HkdfPrfParameters.HashType.SHA512)
              .setSalt(Bytes.copyFrom("fieldveil".getBytes(StandardCharsets.UTF_8)))
              .build();
      case "aes-cmac" -> AesCmacPrfParameters.create(32);
      default -> throw new IllegalArgumentException("there is no key type " + type);
    };
  }

  private static Parameters aesGcm(int bytes) throws GeneralSecurityException {
    return AesGcmParameters.builder()
        .setKeySizeBytes(bytes)
        .setIvSizeBytes(12)
        .setTagSizeBytes(16)
        .setVariant(AesGcmParameters.Variant.TINK)
        .build();
  }

  private static Parameters aesGcmSiv(int bytes) throws GeneralSecurityException {
    return AesGcmSivParameters.builder()
        .setKeySizeBytes(bytes)
        .setVariant(AesGcmSivParameters.Variant.TINK)
        .build();
  }

  private static Parameters hmac(int bytes, HmacPrfParameters.HashType hash)
      throws GeneralSecurityException {
    return HmacPrfParameters.builder().setKeySizeBytes(bytes).setHashType(hash).build();
  }

  private static HkdfPrfParameters.Builder hkdf(HkdfPrfParameters.HashType hash)
      throws GeneralSecurityException {
    return HkdfPrfParameters.builder().setKeySizeBytes(32).setHashType(hash);
  }

  private TinkTool() {}
}
