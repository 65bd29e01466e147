"""Reads event files of TensorBoard with protobuf's own library and prints each event as JSON; checks both checksums of every record."""

import json
import struct
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

# The published fields of event.proto, summary.proto, tensor.proto and graph.proto that are read here: number, name, type.
MESSAGES = {
    "Event": [
        (1, "wall_time", "double"),
        (2, "step", "int64"),
        (3, "file_version", "string"),
        (4, "graph_def", "bytes"),
        (5, "summary", "Summary"),
    ],
    "Summary": [(1, "value", "*Value")],
    "Value": [
        (1, "tag", "string"),
        (2, "simple_value", "float"),
        (4, "image", "Image"),
        (5, "histo", "HistogramProto"),
        (8, "tensor", "TensorProto"),
        (9, "metadata", "SummaryMetadata"),
    ],
    "Image": [
        (1, "height", "int32"),
        (2, "width", "int32"),
        (3, "colorspace", "int32"),
        (4, "encoded_image_string", "bytes"),
    ],
    "HistogramProto": [
        (1, "min", "double"),
        (2, "max", "double"),
        (3, "num", "double"),
        (4, "sum", "double"),
        (5, "sum_squares", "double"),
        (6, "bucket_limit", "*double"),
        (7, "bucket", "*double"),
    ],
    "TensorProto": [
        (1, "dtype", "int32"),
        (2, "tensor_shape", "TensorShapeProto"),
        (8, "string_val", "*bytes"),
    ],
    "TensorShapeProto": [(2, "dim", "*Dim")],
    "Dim": [(1, "size", "int64"), (2, "name", "string")],
    "SummaryMetadata": [(1, "plugin_data", "PluginData")],
    "PluginData": [(1, "plugin_name", "string"), (2, "content", "bytes")],
    "GraphDef": [(1, "node", "*NodeDef"), (4, "versions", "VersionDef")],
    "VersionDef": [(1, "producer", "int32")],
    "NodeDef": [
        (1, "name", "string"),
        (2, "op", "string"),
        (3, "input", "*string"),
        (4, "device", "string"),
        (5, "attr", "*AttrEntry"),
    ],
    "AttrEntry": [(1, "key", "string"), (2, "value", "AttrValue")],
    "AttrValue": [(1, "list", "ListValue")],
    "ListValue": [(7, "shape", "*TensorShapeProto")],
}


def make_classes():
    file = descriptor_pb2.FileDescriptorProto(name="event.proto", package="tb", syntax="proto3")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, field_name, kind in fields:
            plain = kind.lstrip("*")
            field = message.field.add(name=field_name, number=number)
            field.label = field.LABEL_REPEATED if kind != plain else field.LABEL_OPTIONAL
            if plain in MESSAGES:
                field.type, field.type_name = field.TYPE_MESSAGE, f".tb.{plain}"
            else:
                field.type = getattr(field, f"TYPE_{plain.upper()}")
    return message_factory.GetMessages([file])


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        head, record = data[at : at + 8], data[at + 12 : at + 12 + length]
        assert len(record) == length
        assert struct.unpack_from("<I", data, at + 8)[0] == masked(head)
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked(record)
        yield record
        at += 16 + length


def no_unknown_fields(message):
    assert len(message.UnknownFields()) == 0, message
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for part in value if field.label == field.LABEL_REPEATED else [value]:
                no_unknown_fields(part)


classes = make_classes()


def read(name, data):
    message = classes[f"tb.{name}"].FromString(data)
    no_unknown_fields(message)
    return message


for path in sys.argv[1:]:
    with open(path, "rb") as file:
        for record in records(file.read()):
            event = read("Event", record)
            line = json_format.MessageToDict(event, preserving_proto_field_name=True)
            if event.graph_def:
                graph = read("GraphDef", event.graph_def)
                line["graph_def"] = json_format.MessageToDict(graph)
            print(json.dumps(line))
