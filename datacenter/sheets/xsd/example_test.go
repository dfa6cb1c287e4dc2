package xsd_test

import (
	"fmt"
	"log"

	"lorefs/datacenter/sheets/xsd"
)

// A schema says what nodes of one path have.
func Example() {
	const text = `<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns="https://example.org/ItemData" targetNamespace="https://example.org/ItemData" elementFormDefault="qualified">
	<xsd:complexType name="ItemData">
		<xsd:sequence>
			<xsd:element name="Item" type="ItemData_Item" minOccurs="0" maxOccurs="unbounded" />
		</xsd:sequence>
	</xsd:complexType>
	<xsd:complexType name="ItemData_Item">
		<xsd:attribute name="id" type="xsd:int" use="required" />
		<xsd:attribute name="name" type="xsd:string" />
	</xsd:complexType>
	<xsd:element name="ItemData" type="ItemData" />
</xsd:schema>`
	schema, err := xsd.Read("ItemData.xsd", []byte(text))
	if err != nil {
		log.Fatal(err)
	}
	item, _ := schema.Root.Child("Item")
	fmt.Println(schema.Sheet, "has any number of Item:", item.Max == xsd.Unbounded)
	for _, a := range item.Type.Attributes {
		fmt.Println(a.Name, "is of type", a.Type, "and required:", a.Required)
	}
	// Output:
	// ItemData has any number of Item: true
	// id is of type int and required: true
	// name is of type string and required: false
}
